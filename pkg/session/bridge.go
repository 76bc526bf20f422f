package session

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Bridge copies between a client's streams and the hub until either side ends, and closes hub. When the client has ended,
// what the hub still has to say goes out for a short time. The error is that of the stream towards the client; a side that
// ends is none.
//
// It may return while a read from in is still waiting: the process is expected to end then.
func Bridge(in io.Reader, out io.Writer, hub net.Conn) error {
	defer hub.Close()
	fromHub := make(chan error, 1)
	fromClient := make(chan struct{})
	go func() {
		_, err := io.Copy(out, hub)
		fromHub <- err
	}()
	go func() {
		_, _ = io.Copy(hub, in) // However the client ended, it ended.
		close(fromClient)
	}()
	select {
	case err := <-fromHub:
		return bridged(err)
	case <-fromClient:
	}
	// The hub answers the end of its input with a goodbye and closes.
	if half, ok := hub.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // A hub that is gone is noticed by the read below.
	}
	_ = hub.SetReadDeadline(time.Now().Add(flushWithin))
	return bridged(<-fromHub)
}

func bridged(err error) error {
	var network *net.OpError
	if err == nil || errors.As(err, &network) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return fmt.Errorf("copy the session to the client: %w", err)
}

// Refuse tells a client, in place of a hub, why there is no session.
func Refuse(out io.Writer, why error) error {
	line, err := encode(Message{Type: TypeError, Error: why.Error()})
	if err != nil {
		return err
	}
	_, err = out.Write(line)
	return err
}

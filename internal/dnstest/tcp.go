package dnstest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func (s *Server) listenTCP(addr netip.Addr) error {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(addr, s.port)))
	if err != nil {
		return err
	}
	s.closers = append(s.closers, l.Close)
	s.goRun(func() {
		for {
			conn, err := l.AcceptTCP()
			if err != nil {
				return
			}
			s.goRun(func() { s.serveTCP(conn, addr) })
		}
	})
	return nil
}

// answer is what one query of a stream gets, and when.
type answer struct {
	due          time.Time
	reply        []byte
	close, reset bool
}

// maxUnanswered bounds the queries of one connection that wait for their delayed answers.
const maxUnanswered = 64

// serveTCP answers the queries of one connection, in their order. Reading goes on while answers are held back, so that the
// delays of queries that came together run together.
func (s *Server) serveTCP(conn *net.TCPConn, addr netip.Addr) {
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	closed := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer closed()
	answers := make(chan answer, maxUnanswered)
	s.goRun(func() {
		defer stop()
		s.writeTCP(ctx, conn, answers)
	})
	defer func() {
		close(answers)
		<-ctx.Done()
	}()
	from := conn.RemoteAddr().(*net.TCPAddr).AddrPort()
	for {
		wire, err := readFrame(conn)
		if err != nil {
			return
		}
		at := time.Now()
		r, reply := s.react(wire, addr, from, probe.TCP)
		answers <- answer{due: at.Add(r.Delay), reply: reply, close: r.Close, reset: r.Reset}
		if r.Close || r.Reset {
			// Read on, or the end would be a reset when more queries are there.
			_, _ = io.Copy(io.Discard, conn)
			return
		}
	}
}

// writeTCP writes answers when they are due, until there are no more or the connection ends.
func (s *Server) writeTCP(ctx context.Context, conn *net.TCPConn, answers <-chan answer) {
	for a := range answers {
		if !pause(ctx, a.due) {
			break
		}
		if a.reset {
			_ = conn.SetLinger(0)
			_ = conn.Close()
			break
		}
		if a.reply != nil {
			if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(a.reply))), a.reply...)); err != nil {
				break
			}
		}
		if a.close {
			_ = conn.CloseWrite()
		}
	}
	_ = conn.Close()
	for range answers {
		// The reader must never wait for us.
	}
}

// pause waits until t and reports false when ctx ended first.
func pause(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func readFrame(r io.Reader) ([]byte, error) {
	var prefix [2]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	msg := make([]byte, binary.BigEndian.Uint16(prefix[:]))
	_, err := io.ReadFull(r, msg)
	return msg, err
}

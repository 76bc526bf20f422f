package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/session"
)

// hubWithin is how long an attach waits for the hub: the container may have started this very moment.
const hubWithin = 5 * time.Second

// attach joins the session of this container with the client's streams. What keeps it from that is told in the protocol too,
// since the client may see no stderr.
func attach(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) > 0 {
		return usageError{errors.New("attach takes no arguments")}
	}
	within, cancel := context.WithTimeout(ctx, hubWithin)
	defer cancel()
	conn, err := session.Connect(within, session.Dirs())
	if err != nil {
		return errors.Join(err, session.Refuse(out, err))
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // The bridge then ends.
	defer stop()
	return session.Bridge(in, out, conn)
}

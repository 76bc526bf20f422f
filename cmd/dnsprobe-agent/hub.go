package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/version"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/session"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/target"
)

// hub serves the session of this container until it ends by itself or is told to stop.
func hub(ctx context.Context, args []string, errs io.Writer) error {
	set := flags("hub")
	idle := set.Duration("idle", 15*time.Minute, "")
	keep := set.Duration("keep-after-last", -1, "")
	container := set.String("target-container", "", "")
	if err := set.Parse(args); err != nil {
		return usageError{err}
	}
	if set.NArg() > 0 || *idle <= 0 {
		return usageError{errors.New("hub takes no arguments, and an idle limit over 0")}
	}
	l, err := session.Listen(session.Dirs())
	if err != nil {
		return err
	}
	cfg := session.Config{
		Version: version.Version, Engine: &engineHere{place: target.Pod(*container), network: realNetwork}, Idle: *idle,
		Log: func(text string) { say(errs, text) },
	}
	if *keep >= 0 {
		cfg.KeepAfterLast = keep
	}
	h := session.NewHub(cfg)
	h.Start() //nolint:contextcheck // The reading lives as long as the hub, which ends with ctx.
	say(errs, version.String()+": waiting for kubectl dnsprobe, for "+idle.String()+" at most")
	reason, err := h.Serve(ctx, l)
	// The folder is empty once the listener is closed; the file system may last longer than this process.
	_ = os.Remove(filepath.Dir(l.Addr().String()))
	say(errs, "ended: "+reason)
	return err
}

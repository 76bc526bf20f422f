package session

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// job is a request that waits for its turn or runs.
type job struct {
	owner   *member
	running bool
	stop    context.CancelFunc
}

// startResolve begins a resolution in the background. h.mu is held.
func (h *Hub) startResolve(owner *member, id string, ask probe.Ask) error {
	if err := h.ids.check(id); err != nil {
		return err
	}
	emit := func(ev probe.Event) {
		ev.Resolution = id
		h.emit(ev)
	}
	return h.start(owner, id, func(ctx context.Context) error {
		select {
		case h.slots <- struct{}{}:
			defer func() { <-h.slots }()
		case <-ctx.Done():
			return errStopped
		}
		h.running(id)
		bounded, cancel := context.WithTimeout(ctx, bound(ask.Timeout.Duration(), h.cfg.Longest))
		defer cancel()
		err := h.protect(func() error { return h.cfg.Engine.Resolve(bounded, id, ask, emit) })
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			err = errStopped
		case bounded.Err() != nil:
			err = fmt.Errorf("gave up after %s", bound(ask.Timeout.Duration(), h.cfg.Longest))
		}
		// Whoever reads the history later must not take it for a resolution that still runs.
		emit(probe.Event{Kind: probe.KindNote, Note: "not carried through: " + err.Error()})
		return err
	})
}

// running marks a job as one that no longer waits.
func (h *Hub) running(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if j := h.jobs[id]; j != nil {
		j.running = true
	}
}

// startRead has the engine read the target's settings in the background. owner is nil when nobody asked. h.mu is held.
func (h *Hub) startRead(owner *member, id string) error {
	if err := h.ids.check(id); err != nil {
		return err
	}
	return h.start(owner, id, func(ctx context.Context) error {
		return h.protect(func() error { return h.cfg.Engine.Read(ctx, h.emit) })
	})
}

// errStopped is what a request ends with that was cancelled.
var errStopped = errors.New("stopped on request")

// bound returns the time that a resolution may take.
func bound(asked, longest time.Duration) time.Duration {
	if asked <= 0 {
		return longest
	}
	return min(asked, longest)
}

// start runs a request in the background and tells everybody when it is done. h.mu is held.
func (h *Hub) start(owner *member, id string, run func(context.Context) error) error {
	if len(h.jobs) >= mostJobs {
		return errFull
	}
	ctx, cancel := context.WithCancel(h.ctx)
	h.jobs[id] = &job{owner: owner, stop: cancel}
	h.ids.use(id)
	h.watchIdle()
	h.working.Go(func() {
		err := run(ctx)
		cancel()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.jobs, id)
		done := Message{Type: TypeDone, ID: id}
		if err != nil {
			done.Error = err.Error()
		}
		h.tellAll(done, nil)
		h.watchIdle()
	})
	return nil
}

// protect turns a panic into an error: one broken resolution must not end a session that others share.
func (h *Hub) protect(run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error, please report it: %v", p)
			if h.cfg.Log != nil {
				h.cfg.Log(fmt.Sprintf("%v\n%s", err, debug.Stack()))
			}
		}
	}()
	return run()
}

// cancel stops a request, whoever asked for it. One that has ended is no error: the message and its done have crossed.
func (h *Hub) cancel(id string) {
	if j := h.jobs[id]; j != nil {
		j.stop()
	}
}

// usedIDs remembers the ids of the newest requests.
type usedIDs struct {
	seen  map[string]bool
	order []string
}

func (u *usedIDs) check(id string) error {
	switch {
	case id == "":
		return errors.New("the request has no id: set one that is unique in this session")
	case len(id) > maxID:
		return fmt.Errorf("the request's id has %d bytes: use at most %d", len(id), maxID)
	case u.seen[id]:
		return fmt.Errorf("the id %q was used before in this session: choose another", id)
	}
	return nil
}

func (u *usedIDs) use(id string) {
	if u.seen == nil {
		u.seen = map[string]bool{}
	}
	u.seen[id] = true
	u.order = append(u.order, id)
	if len(u.order) > mostIDs {
		delete(u.seen, u.order[0])
		u.order = u.order[1:]
	}
}

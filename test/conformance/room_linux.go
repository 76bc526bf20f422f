package conformance

import (
	"context"
	"runtime"
	"sync"
)

// Room is what the cases of all libraries share on a machine. It bounds the cases under way, and those that are being set up:
// starting a process takes a processor, waiting for a timeout takes none.
type Room struct {
	slots, starts chan struct{}
	// whole is held by whoever waits for all slots: two that have some each would wait for ever.
	whole sync.Mutex
}

// NewRoom returns room for so many cases at once.
func NewRoom(cases int) *Room {
	return &Room{slots: make(chan struct{}, cases), starts: make(chan struct{}, 2*runtime.NumCPU())}
}

// enter waits for slots, behind those who came before.
func (r *Room) enter(ctx context.Context, slots int) error {
	for taken := range slots {
		select {
		case r.slots <- struct{}{}:
		case <-ctx.Done():
			r.leave(taken)
			return ctx.Err()
		}
	}
	return nil
}

func (r *Room) leave(slots int) {
	for range slots {
		<-r.slots
	}
}

// Alone runs f while no case is under way.
func (r *Room) Alone(ctx context.Context, f func()) error {
	r.whole.Lock()
	defer r.whole.Unlock()
	if err := r.enter(ctx, cap(r.slots)); err != nil {
		return err
	}
	defer r.leave(cap(r.slots))
	f()
	return nil
}

// begin waits until one more case may be set up, which begun ends.
func (r *Room) begin(ctx context.Context) error {
	select {
	case r.starts <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Room) begun() { <-r.starts }

//go:build linux

package conformance

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// TestRoomAlone: nothing runs beside whoever is alone, and two who want to be wait for each other.
func TestRoomAlone(t *testing.T) {
	r := NewRoom(3)
	var under atomic.Int32
	var wg sync.WaitGroup
	for range 40 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := r.enter(t.Context(), 1); err != nil {
				t.Error(err)
				return
			}
			defer r.leave(1)
			if n := under.Add(1); n > 3 {
				t.Errorf("%d cases in a room for 3", n)
			}
			under.Add(-1)
		}()
	}
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			err := r.Alone(t.Context(), func() {
				if n := under.Add(1); n != 1 {
					t.Errorf("%d beside who is alone", n-1)
				}
				under.Add(-1)
			})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	if len(r.slots) != 0 {
		t.Errorf("%d slots are still taken", len(r.slots))
	}
}

// TestRoomGivesBack: who gives up waiting keeps no slot.
func TestRoomGivesBack(t *testing.T) {
	r := NewRoom(2)
	if err := r.enter(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Alone(ctx, func() { t.Error("alone beside another one") }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
	if len(r.slots) != 1 {
		t.Errorf("%d slots are taken, want 1", len(r.slots))
	}
}

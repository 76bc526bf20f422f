package dnstest

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// schedule runs functions at their times, equal times in the order in which they were given.
type schedule struct {
	mu   sync.Mutex
	due  dueHeap
	seq  int
	wake chan struct{}
}

func newSchedule() *schedule { return &schedule{wake: make(chan struct{}, 1)} }

func (s *schedule) at(t time.Time, f func()) {
	s.mu.Lock()
	s.seq++
	heap.Push(&s.due, due{t, s.seq, f})
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run runs what is due until ctx ends.
func (s *schedule) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		for f := s.next(timer); f != nil; f = s.next(timer) {
			f()
		}
		select {
		case <-timer.C:
		case <-s.wake:
		case <-ctx.Done():
			return
		}
	}
}

// next takes out the first function that is due; without one it sets timer to when there will be one.
func (s *schedule) next(timer *time.Timer) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.due) == 0 {
		return nil
	}
	if wait := time.Until(s.due[0].at); wait > 0 {
		timer.Reset(wait)
		return nil
	}
	return heap.Pop(&s.due).(due).f
}

type due struct {
	at  time.Time
	seq int
	f   func()
}

type dueHeap []due

func (h dueHeap) Len() int { return len(h) }
func (h dueHeap) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].seq < h[j].seq
}
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(x any)   { *h = append(*h, x.(due)) }
func (h *dueHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

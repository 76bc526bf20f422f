package session

import (
	"bufio"
	"io"
	"sync"
)

// outbox holds the lines that wait to be written to one client, so that nobody waits for a client that reads slowly.
type outbox struct {
	wake  chan struct{}
	limit int

	mu sync.Mutex
	// backlog is the history that a new client gets first. It does not count against the limit: its lines are held by the
	// history anyway, and how much of it there is, is no fault of the client.
	backlog [][]byte
	lines   [][]byte
	size    int
	closed  bool
}

func newOutbox(limit int) *outbox { return &outbox{wake: make(chan struct{}, 1), limit: limit} }

// put queues a line. It returns false when the client is so far behind that the line does not fit; after close it
// takes nothing and returns true.
func (o *outbox) put(line []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return true
	}
	if o.size+len(line) > o.limit {
		return false
	}
	o.lines = append(o.lines, line)
	o.size += len(line)
	o.signal()
	return true
}

// putBacklog queues history in front of everything else.
func (o *outbox) putBacklog(lines [][]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.backlog = append(o.backlog, lines...)
	o.signal()
}

// close lets what is queued go out, then the last line if there is one, then ends the writing.
func (o *outbox) close(last []byte) { o.finish(last, false) }

// abandon drops what is queued, writes the last line and ends the writing.
func (o *outbox) abandon(last []byte) { o.finish(last, true) }

func (o *outbox) finish(last []byte, drop bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.closed = true
	if drop {
		o.backlog, o.lines = nil, nil
	}
	if last != nil {
		o.lines = append(o.lines, last)
	}
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take waits for lines. It returns false when nothing is left and the outbox is closed.
func (o *outbox) take() ([][]byte, bool) {
	for {
		o.mu.Lock()
		lines := append(o.backlog, o.lines...)
		o.backlog, o.lines, o.size = nil, nil, 0
		closed := o.closed
		o.mu.Unlock()
		if len(lines) > 0 {
			return lines, true
		}
		if closed {
			return nil, false
		}
		<-o.wake
	}
}

// writeTo writes lines as they come until the outbox is closed and empty, or w fails.
func (o *outbox) writeTo(w io.Writer) error {
	buf := bufio.NewWriterSize(w, 8<<10)
	for {
		lines, more := o.take()
		if !more {
			return nil
		}
		for _, line := range lines {
			if _, err := buf.Write(line); err != nil {
				return err
			}
		}
		if err := buf.Flush(); err != nil {
			return err
		}
	}
}

package session

import (
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// record is one event as it was sent: the line is shared by the history and by every client's outbox.
type record struct {
	seq  int64
	kind probe.Kind
	line []byte
}

// history keeps the newest events of a session within a bound in bytes. Events that describe the session as a whole (the
// target, its settings, its resolver) outlive the bound in their newest form, so that whoever comes late can make sense of
// the rest.
type history struct {
	limit int
	size  int
	// records[head:] are kept; what is before is forgotten and cut off now and then.
	records []record
	head    int
	// pinned are the newest session-wide events that records no longer holds, in order of seq.
	pinned []record
}

// add appends an event and forgets the oldest ones over the bound.
func (h *history) add(r record) {
	h.records = append(h.records, r)
	h.size += len(r.line)
	for h.size > h.limit && h.head < len(h.records)-1 {
		old := h.records[h.head]
		h.size -= len(old.line)
		h.pin(old)
		h.records[h.head] = record{}
		h.head++
	}
	if h.head > len(h.records)/2 && h.head > 256 {
		h.records = slices.Clone(h.records[h.head:])
		h.head = 0
	}
}

// pin keeps r if it describes the session, in place of an older one of its kind.
func (h *history) pin(r record) {
	switch r.kind {
	case probe.KindRun, probe.KindSettings, probe.KindResolver:
	default:
		return
	}
	h.pinned = slices.DeleteFunc(h.pinned, func(p record) bool { return p.kind == r.kind })
	h.pinned = append(h.pinned, r)
}

// after returns what a client that has seen everything up to seq lacks, oldest first.
func (h *history) after(seq int64) []record {
	var out []record
	for _, list := range [][]record{h.pinned, h.records[h.head:]} {
		for _, r := range list {
			if r.seq > seq {
				out = append(out, r)
			}
		}
	}
	return out
}

package session

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func seqsOf(records []record) []int64 {
	var out []int64
	for _, r := range records {
		out = append(out, r.seq)
	}
	return out
}

func TestHistoryForgetsTheOldestButKeepsWhatDescribesTheSession(t *testing.T) {
	h := history{limit: 100}
	kinds := map[int64]probe.Kind{1: probe.KindRun, 2: probe.KindSettings, 3: probe.KindResolver, 6: probe.KindSettings}
	for seq := int64(1); seq <= 20; seq++ {
		kind := kinds[seq]
		if kind == "" {
			kind = probe.KindNote
		}
		h.add(record{seq: seq, kind: kind, line: bytes.Repeat([]byte("x"), 20)})
	}
	// Five records fit; of the forgotten ones, the newest of each session-wide kind stays.
	if diff := cmp.Diff([]int64{1, 3, 6, 16, 17, 18, 19, 20}, seqsOf(h.after(0))); diff != "" {
		t.Errorf("everything (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{6, 16, 17, 18, 19, 20}, seqsOf(h.after(5))); diff != "" {
		t.Errorf("after 5 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{20}, seqsOf(h.after(19))); diff != "" {
		t.Errorf("after 19 (-want +got):\n%s", diff)
	}
	if got := h.after(20); len(got) != 0 {
		t.Errorf("after the newest: %v", seqsOf(got))
	}
}

func TestHistoryKeepsTheNewestEvenOverTheBound(t *testing.T) {
	h := history{limit: 10}
	h.add(record{seq: 1, kind: probe.KindNote, line: make([]byte, 5)})
	h.add(record{seq: 2, kind: probe.KindNote, line: make([]byte, 50)})
	if diff := cmp.Diff([]int64{2}, seqsOf(h.after(0))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHistoryLetsGoOfWhatItForgets(t *testing.T) {
	h := history{limit: 1000}
	for seq := int64(1); seq <= 100_000; seq++ {
		h.add(record{seq: seq, kind: probe.KindNote, line: make([]byte, 10)})
	}
	if got := len(h.records); got > 1000 {
		t.Errorf("%d records are held for 100 that are kept", got)
	}
	if h.size != 1000 || len(h.after(0)) != 100 {
		t.Errorf("%d bytes in %d records", h.size, len(h.after(0)))
	}
}

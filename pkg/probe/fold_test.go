package probe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFoldTellsTheWalk(t *testing.T) {
	run := FoldAll(walk())
	if len(run.Resolutions) != 1 {
		t.Fatalf("got %d resolutions, want 1", len(run.Resolutions))
	}
	r := run.Resolutions[0]
	type summary struct {
		Outcome                     Outcome
		Addresses                   []string
		Attempts, Sent, Wasted, Out int
		Duration                    time.Duration
	}
	want := summary{OK, []string{"203.0.113.7"}, 2, 4, 2, 4, 5 * time.Millisecond}
	got := summary{r.Outcome, r.Addresses, len(r.Attempts), r.QueriesSent, r.QueriesWasted, r.TransmissionsSent, r.Duration.Duration()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resolution (-want +got):\n%s", diff)
	}
	first, second := r.Attempts[0], r.Attempts[1]
	if first.Outcome != NXDomain || first.Decided || !second.Decided {
		t.Errorf("attempt 1 %q decided %v, attempt 2 decided %v: want nxdomain, and only the second decides", first.Outcome, first.Decided, second.Decided)
	}
	tr := first.Queries[0].Transmissions[0]
	if tr.Reply != "NXDOMAIN" || tr.Received == nil || tr.Use != UseAccepted || *tr.SOAMinimum != 5 {
		t.Errorf("transmission %+v: want an accepted NXDOMAIN with SOA minimum 5", tr)
	}
	if rtt := first.Queries[0].RTT.Duration(); rtt != 900*time.Microsecond {
		t.Errorf("rtt %v, want 900µs", rtt)
	}
}

func TestFoldOfALostReply(t *testing.T) {
	ref := Ref{Attempt: 1, Type: TypeA}
	sent := func(try int, at time.Duration) Event {
		return Event{Kind: KindSent, Resolution: "r", At: Millis(at), Sent: &Sent{Ref: ref, Try: try, Socket: 1, ID: 7, Transport: UDP}}
	}
	evs := []Event{
		{Kind: KindBegin, Resolution: "r", Begin: &Begin{Host: "x"}},
		{Kind: KindAttempt, Resolution: "r", Attempt: &Try{N: 1, Name: "x."}},
		sent(1, 0),
		{Kind: KindLost, Resolution: "r", At: Millis(5 * time.Second), Lost: &Lost{Ref: ref, Socket: 1, ID: 7, Reason: ReplyLost}},
		sent(2, 5*time.Second),
		{Kind: KindReceived, Resolution: "r", At: Millis(5001 * time.Millisecond), Received: &Received{Ref: ref, Socket: 1, ID: 7, Rcode: "NOERROR", Use: UseAccepted}},
	}
	q := FoldAll(evs).Resolutions[0].Attempts[0].Queries[0]
	if len(q.Transmissions) != 2 || q.Transmissions[0].Reply != ReplyLost || q.Transmissions[1].Reply != "NOERROR" {
		t.Fatalf("transmissions %+v: want the first lost and the second answered", q.Transmissions)
	}
	if !q.Transmissions[1].Ambiguous {
		t.Error("the reply could be a late one to the first transmission: want it marked ambiguous")
	}
	if rtt := q.RTT.Duration(); rtt != time.Millisecond {
		t.Errorf("rtt %v, want 1ms from the newest transmission", rtt)
	}
}

func TestFoldOfWhatIsIgnored(t *testing.T) {
	ref := Ref{Attempt: 1, Type: TypeA}
	evs := []Event{
		{Kind: KindBegin, Resolution: "r", Begin: &Begin{Host: "x"}},
		{Kind: KindAttempt, Resolution: "r", Attempt: &Try{N: 1, Name: "x."}},
		{Kind: KindSent, Resolution: "r", Sent: &Sent{Ref: ref, Try: 1, Socket: 1, ID: 7}},
		{Kind: KindReceived, Resolution: "r", Received: &Received{Ref: ref, Socket: 1, ID: 7, Rcode: "NOERROR", Use: UseIgnored}},
		{Kind: KindEnded, Resolution: "r", At: Millis(time.Second), Ended: &Ended{Outcome: Again}},
	}
	r := FoldAll(evs).Resolutions[0]
	if got := r.Attempts[0].Queries[0].Transmissions[0].Reply; got != ReplyLost {
		t.Errorf("reply %q, want %q: a message that the libc ignores answers nothing", got, ReplyLost)
	}
	if r.QueriesWasted != 1 {
		t.Errorf("%d queries wasted, want 1: nothing decided", r.QueriesWasted)
	}
}

func TestFoldOfAStreamCutAnywhere(t *testing.T) {
	evs := walk()
	for skip := range evs {
		for end := skip; end <= len(evs); end++ {
			FoldAll(evs[skip:end]) // must not panic, whatever is missing
		}
	}
	if run := FoldAll(evs[1:]); len(run.Resolutions) != 0 {
		t.Error("a resolution without its beginning was made up")
	}
}

func TestFoldTakesEachEventOfASessionOnce(t *testing.T) {
	evs := walk()
	for i := range evs {
		evs[i].Seq = int64(i + 1)
	}
	once, twice := FoldAll(evs), FoldAll(append(evs[:len(evs)-3:len(evs)-3], evs...))
	if diff := cmp.Diff(once, twice); diff != "" {
		t.Errorf("a repeated history changed the run (-once +twice):\n%s", diff)
	}
}

//go:build linux

package conformance

import (
	"testing"
)

// checkModel compares what our resolver sent over real sockets with what it sends on the model, in everything but times: the
// predictions that people are shown rest on the two being the same. It returns how many cases it compared.
//
// Left out are processes that were killed or crashed (the model has no limit, and the kernel sends SYNs again) and servers
// without a route (to the model they are closed ports).
func checkModel(t *testing.T, b *Bench, all []*ran) (compared int) {
	t.Helper()
	for _, r := range all {
		if r.err != nil || r.ours.Killed || r.ours.Crashed || b.hasNoRoute(r.c) {
			continue
		}
		compared++
		same := false
		var model Prediction
		for _, start := range b.rotateStarts(r.c, r.ours) {
			var err error
			if model, err = Predict(r.c, b.Library, start, disturbance{}); err != nil {
				t.Fatalf("%s: %v", r.c.Name, err)
			}
			if same = sameSequence(model.Packets, r.ours.Packets); same {
				break
			}
		}
		if !same {
			t.Errorf("%s: on the model\n%sover sockets\n%s", r.c.Name, listing(model.Packets), listing(r.ours.Packets))
		}
	}
	return compared
}

// hasNoRoute reports whether a name server is not on the loopback, which is all that a case's namespace has.
func (b *Bench) hasNoRoute(c *Case) bool {
	for _, s := range b.config(c).Nameservers {
		if !s.IsLoopback() {
			return true
		}
	}
	return false
}

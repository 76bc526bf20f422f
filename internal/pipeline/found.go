package pipeline

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// foundWithin bounds the time for all names that were found: nobody has asked for them.
const foundWithin = 2 * time.Second

// resolveFound resolves the names that the pod was found to use, and takes those that resolve among the names in use. One that does
// not resolve now cannot be broken by a change, and one that takes long would take as long with each variant.
func (r *run) resolveFound(ctx context.Context) {
	if !r.reached() {
		return
	}
	within, cancel := context.WithTimeout(ctx, min(foundWithin, r.Budget.Time))
	defer cancel()
	for _, name := range unique(r.Found) {
		if slices.Contains(r.Hosts, name) || slices.Contains(r.Also, name) {
			continue
		}
		ask := r.ask(name, probe.PurposeAlso)
		if ask.Timeout <= 0 || ask.Timeout > slow {
			ask.Timeout = slow
		}
		res, err := r.Resolve(within, ask)
		if within.Err() != nil {
			return
		}
		if err == nil && res.Outcome == probe.OK && res.Duration < slow {
			r.Also, r.also = append(r.Also, name), append(r.also, res)
		}
	}
}

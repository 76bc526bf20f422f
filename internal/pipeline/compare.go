package pipeline

import (
	"context"
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/compare"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// compare follows every host through the other libcs, and emits after each of them where it parts from the libc of the run. What
// they see is no evidence for findings: those are about the application, which has the libc of the run.
func (r *run) compare(ctx context.Context) {
	for _, host := range r.hosts {
		same := []probe.Resolution{host}
		for _, other := range r.Compare {
			if other.Libc == host.Libc {
				continue
			}
			ask := r.ask(host.Host, probe.PurposeCompare)
			ask.Libc, ask.LibcVersion = other.Libc, other.Version
			res, err := r.Prober.Resolve(ctx, ask)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				r.problem(fmt.Errorf("follow %q through %s: %w", host.Host, libcName(other.Libc), err), "run again")
				continue
			}
			same = append(same, res)
			r.showComparison(compare.Libcs(same, r.Settings, r.Hostname))
		}
	}
}

// showComparison emits all comparisons, with c in the place of an earlier one of the same host.
func (r *run) showComparison(c probe.Comparison) {
	list := append([]probe.Comparison(nil), r.known.Comparisons...)
	if n := len(list); n > 0 && list[n-1].Host == c.Host {
		list = list[:n-1]
	}
	r.known.Comparisons = append(list, c)
	r.emit(probe.Event{Kind: probe.KindComparisons, Comparisons: r.known.Comparisons})
}

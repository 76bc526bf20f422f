// Package experiment runs variants and compares them. It knows nothing of where resolutions take place.
package experiment

import (
	"context"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Prober carries out resolutions in one place: a pod, this machine, a model. Every event of a resolution goes to the sink that
// the Prober was made with; the finished resolution is returned. A resolution that fails as DNS goes (NXDOMAIN, timeout) is
// no error; an error means that it could not be tried.
type Prober interface {
	Resolve(ctx context.Context, ask probe.Ask) (probe.Resolution, error)
}

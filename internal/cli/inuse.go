package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/cluster"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// The bounds of names that a change is checked on though nobody gave them.
const (
	mostInUse = 10
	// mostServices is enough of the Services of a namespace: their short names are all resolved in the same way.
	mostServices = 3
)

// namesInUse returns the names that the pod seems to use besides the given ones, and the fact that says so: those of the container's
// environment, and some Services of the namespace. A change is checked on them as on those of --also.
func namesInUse(known cluster.Known, namespace string, given []string) ([]string, probe.Fact) {
	var out, left []string
	add := func(name string, most int) {
		switch {
		case slices.Contains(given, name) || slices.Contains(out, name) || checkHost(name) != nil:
		case len(out) >= most:
			left = append(left, name)
		default:
			out = append(out, name)
		}
	}
	environment, _ := known.Facts.Names(fact.Environment)
	for _, name := range environment {
		add(name, mostInUse)
	}
	ofEnvironment := len(out)
	sources := []string{fmt.Sprintf("%d from the fact %s", ofEnvironment, fact.Environment)}
	if len(left) > 0 {
		sources = append(sources, "not checked, since there are too many: "+strings.Join(left, ", "))
	}
	for _, name := range slices.Sorted(slices.Values(known.Services)) {
		add(name, min(mostInUse, ofEnvironment+mostServices))
	}
	if services := len(out) - ofEnvironment; services > 0 {
		sources = append(sources, fmt.Sprintf("%d of the %d Services of namespace %s", services, len(known.Services), namespace))
	}
	return out, probe.Fact{Value: fact.NamesText(out), Source: strings.Join(sources, "; ")}
}

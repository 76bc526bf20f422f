package cli

import (
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// otherLibcs are the libcs of the pod's other containers, as far as the names of their images tell: an Alpine image has musl. A change
// of the pod's settings is read by all of them. What no name tells is not guessed.
func otherLibcs(facts fact.Facts, container string, own probe.Libc) []probe.Resolver {
	text, known := facts.Text(fact.Images)
	if !known || own == probe.Musl {
		return nil
	}
	for word := range strings.FieldsSeq(text) {
		name, image, found := strings.Cut(word, "=")
		if found && name != container && strings.Contains(strings.ToLower(image), "alpine") {
			return []probe.Resolver{{
				Libc: probe.Musl, Source: probe.SourceAssumed, Why: "container " + name + " runs the image " + image + ", and Alpine has musl",
			}}
		}
	}
	return nil
}

package diagnose

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// maxText bounds a name or value from outside in a sentence, in bytes; a DNS name in presentation format can have a thousand,
// which no person reads.
const maxText = 255

// clean makes text from DNS, pod or cluster fit to stand in a sentence.
func clean(s string) string { return printable.Text(s, maxText) }

// took writes a duration the way people read DNS times: "0.4 ms", "47.2 ms", "5.01 s".
func took(m probe.Millis) string {
	if m.Duration() >= time.Second {
		return fmt.Sprintf("%.2f s", m.Duration().Seconds())
	}
	return fmt.Sprintf("%.1f ms", m.Milliseconds())
}

// part writes "43.1 of 47.2 ms".
func part(some, whole probe.Millis) string {
	if whole.Duration() >= time.Second && some.Duration() < time.Second {
		return took(some) + " of " + took(whole)
	}
	a, unit, _ := strings.Cut(took(some), " ")
	b, other, _ := strings.Cut(took(whole), " ")
	if unit != other {
		return took(some) + " of " + took(whole)
	}
	return a + " of " + b + " " + unit
}

// count writes "1 query", "8 queries".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// list writes "a", "a and b", "a, b and c", and no more than four of them.
func list(words []string) string {
	const most = 4
	if len(words) > most {
		words = append(append([]string{}, words[:most-1]...), fmt.Sprintf("%d more", len(words)-most+1))
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// bare is a name without its final dot, for sentences.
func bare(name string) string { return clean(strings.TrimSuffix(name, ".")) }

// host is the address of a server in a trace, without its port where that is 53.
func host(server string) string {
	if h, ok := strings.CutSuffix(server, ":53"); ok {
		return strings.TrimSuffix(strings.TrimPrefix(h, "["), "]")
	}
	return server
}

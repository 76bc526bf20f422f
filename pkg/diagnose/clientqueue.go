package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// clientQueue: the container runs Node, which looks up two hosts at a time, and one lookup takes long: it holds one of the two places for
// all that time, and lookups of other hosts wait behind it although nothing is wrong with them.
//
// libuv has four threads and gives half of them to lookups (observed: six lookups at a silent server ran two by two).
var clientQueue = rule{class: "client-queue", judge: func(v *view) []probe.Finding {
	if v.run.Resolver.Runtime != "node" || v.run.Resolver.Caller == callerNodeResolve {
		return nil
	}
	var findings []probe.Finding
	for _, r := range v.now {
		if r.Duration < slow || len(r.Attempts) == 0 {
			continue
		}
		findings = append(findings, probe.Finding{
			Severity: probe.Warning,
			Title:    fmt.Sprintf("Node looks up 2 hosts at a time: for %s the lookup of %s holds one of the two places.", took(r.Duration), clean(r.Host)),
			Explain: "dns.lookup calls libc in libuv's pool of four threads, of which lookups get two. Two slow lookups stop all others in the process, and file access shares the pool. " +
				"How many wait behind it depends on the application.",
			Evidence: []probe.Evidence{at(r, &r.Attempts[0], fmt.Sprintf("%s: %s in all", clean(r.Host), took(r.Duration)))},
			Remedies: []probe.Remedy{
				{Text: "Mend what makes the lookup slow: see the other findings."},
				{Text: "Give the pool more threads: UV_THREADPOOL_SIZE=16 in the environment lets 8 lookups run at a time.", Caveat: "It has to be set before the process starts."},
				{Text: "Keep connections open (an Agent with keepAlive), so that fewer lookups are made."},
			},
		})
		return findings
	}
	return nil
}, page: page{
	needs:    "A container that runs Node, and a lookup of one second or more.",
	remedies: "What makes the lookup slow; more threads (UV_THREADPOOL_SIZE); connections that are kept.",
	wrong:    "\"DNS is slow for every host\": the others wait in the process, and no query of theirs is on the wire.",
}}

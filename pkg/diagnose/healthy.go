package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

const (
	// slow is the time from which a single reply is too late to speak of health.
	slow = probe.Millis(time.Second)
	// quick is the time up to which a median reply leaves nothing for more replicas to win.
	quick = probe.Millis(5 * time.Millisecond)
	// enough is how many replies from the cluster's own zones a statement about its DNS servers takes.
	enough = 4
)

// besideHealth are the classes that say nothing against the health of DNS.
var besideHealth = []string{"search-walk", "hosts-file", "ndots-too-low", "client-library", "external-name", "windows-names", "autopath-mismatch"}

// healthy: every host resolves, every query was answered at once, and nothing but a walk was found.
//
// It is withheld when the answer came from a search domain outside of the cluster, until a random name there was denied: a
// wildcard answers for names that are not its own.
var healthy = rule{class: "healthy", judge: func(v *view) []probe.Finding {
	for class := range v.found {
		if !slices.Contains(besideHealth, class) {
			return nil
		}
	}
	if len(v.now) == 0 || !v.allFine() {
		return nil
	}
	all, inside := v.replyTimes()
	if len(all) == 0 {
		return literals(v)
	}
	f := probe.Finding{Severity: probe.Info, Title: v.healthyTitle(all, inside)}
	f.Explain = fmt.Sprintf("Every message was answered, the slowest after %s.", took(all[len(all)-1]))
	if servers := v.outrun(); len(servers) > 0 {
		f.Explain = fmt.Sprintf("Every query was answered, the slowest after %s. Messages also went to %s, but another server was quicker and their replies were not waited for.",
			took(all[len(all)-1]), list(servers))
	}
	if full := v.completed(); full != "" {
		f.Explain += " " + full
	}
	for _, r := range v.now {
		if d := decided(r); d != nil {
			f.Evidence = append(f.Evidence, at(r, d, fmt.Sprintf("%s: found as %s with %s in %s", clean(r.Host), clean(d.Name),
				count(r.QueriesSent, "query", "queries"), took(r.Duration))))
		}
	}
	return []probe.Finding{f}
}, page: page{
	needs: "Every host resolved under the settings as they are, each message was answered within a second, and no rule found more " +
		"than a walk, a hosts file or a search too many. An answer from a search domain outside of the cluster counts only " +
		"once a random name there was denied.",
	remedies: "None is needed. When an application still fails, look at what it makes of the answer: its own cache, its connections, " +
		"a library that does not read resolv.conf.",
	wrong: "Any change of dnsConfig. A test tool that prints NXDOMAIN, such as busybox nslookup, which asks every name by itself, " +
		"says nothing about the application's libc.",
}}

// outrun are the servers of which the libc did not wait for a reply, since another one was quicker every time.
func (v *view) outrun() []string {
	var order []string
	answered := map[string]bool{}
	for _, first := range v.now {
		for _, r := range v.repetitions(first) {
			for _, a := range r.Attempts {
				for _, q := range a.Queries {
					for _, t := range q.Transmissions {
						server := clean(host(t.Server))
						if !slices.Contains(order, server) {
							order = append(order, server)
						}
						answered[server] = answered[server] || t.Received != nil
					}
				}
			}
		}
	}
	return slices.DeleteFunc(order, func(server string) bool { return answered[server] })
}

// completed says, where the search list completes a host, who does not walk it: tests with tools mislead there.
func (v *view) completed() string {
	for _, r := range v.now {
		d := searched(r)
		if d == nil || v.found["client-library"] {
			continue
		}
		return fmt.Sprintf("%s is short for %s: dig, nslookup of busybox and clients that do not walk the search list (nginx and Kong with `resolver`, Node's dns.resolve) "+
			"need the full name, and their exit code says nothing about libc.", clean(r.Host), bare(d.Name))
	}
	return ""
}

// allFine says whether every resolution of the hosts under the settings as they are shows no fault, repetitions included.
func (v *view) allFine() bool {
	for _, first := range v.now {
		for _, r := range v.repetitions(first) {
			if !v.fine(r) {
				return false
			}
		}
	}
	return true
}

// fine says whether r shows no fault at all.
func (v *view) fine(r *probe.Resolution) bool {
	if r.Outcome != probe.OK {
		return false
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Outcome != probe.OK && !negative(a) {
			return false
		}
		for _, q := range a.Queries {
			for _, t := range q.Transmissions {
				if t.Reply == probe.ReplyAbandoned && q.Rcode != "" {
					// Another server was quicker, and the libc did not wait for this one: musl asks all of them at once.
					continue
				}
				if t.Received == nil || *t.Received-t.Sent >= slow || (t.Reply != "NOERROR" && t.Reply != "NXDOMAIN") {
					return false
				}
			}
		}
	}
	d := decided(r)
	switch {
	case r.AnsweredBy == answeredByHosts || r.AnsweredBy == answeredByLiteral:
		return true
	case d == nil || d.Outcome != probe.OK || !slices.ContainsFunc(d.Queries, func(q probe.Query) bool { return len(q.Answers) > 0 }):
		return false
	}
	domain := ForeignDomain(*r, v.zone)
	if domain == "" {
		return true
	}
	// A random name that is denied there, or answered with something else, shows that the answer was meant.
	test := v.wildcardTest(domain)
	return test != nil && !shareAddress(r, test)
}

// replyTimes returns the times of all replies of the hosts' resolutions, and of those for names of the cluster, sorted.
func (v *view) replyTimes() (all, inside []probe.Millis) {
	for _, first := range v.now {
		for _, r := range v.repetitions(first) {
			for _, a := range r.Attempts {
				for _, q := range a.Queries {
					if q.RTT == nil {
						continue
					}
					all = append(all, *q.RTT)
					if v.zone != "" && !v.leaves(a.Name) {
						inside = append(inside, *q.RTT)
					}
				}
			}
		}
	}
	slices.Sort(all)
	slices.Sort(inside)
	return all, inside
}

func (v *view) healthyTitle(all, inside []probe.Millis) string {
	if len(inside) < enough {
		return fmt.Sprintf("%s and replies come in %s (p50 of %d).", v.resolves(), took(median(all)), len(all))
	}
	title := fmt.Sprintf("%s answers in %s (p50 of %d replies for names of the cluster).", v.servers(), took(median(inside)), len(inside))
	if median(inside) <= quick {
		title += " Scaling CoreDNS would not help."
	}
	return title
}

func (v *view) resolves() string {
	if len(v.now) == 1 {
		return clean(v.now[0].Host) + " resolves"
	}
	return fmt.Sprintf("All %d hosts resolve", len(v.now))
}

// servers names the nameservers that replied, in the order first seen.
func (v *view) servers() string {
	var names []string
	for _, r := range v.now {
		for _, a := range r.Attempts {
			for _, q := range a.Queries {
				for _, t := range q.Transmissions {
					if name := clean(host(t.Server)); !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			}
		}
	}
	return list(names)
}

// median is the lower median of sorted values.
func median(sorted []probe.Millis) probe.Millis { return sorted[(len(sorted)-1)/2] }

// literals is the verdict when no host needed a query.
func literals(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if r.AnsweredBy == answeredByLiteral {
			findings = append(findings, probe.Finding{
				Severity: probe.Info,
				Title:    clean(r.Host) + " is an address: there is nothing to resolve.",
				Explain:  "The resolver takes it as it is and sends no query.",
				Evidence: []probe.Evidence{{Text: clean(r.Host) + " taken as it is", Resolution: r.ID}},
			})
		}
	}
	return findings
}

package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// explain says what the run could not find out: a host that does not resolve, or resolves late, must not be left without a
// word.
func (r *run) explain() {
	if slices.ContainsFunc(r.known.Findings, explains) {
		return
	}
	for _, host := range r.hosts {
		why, next := r.open(host).unexplained()
		if why != "" {
			r.problem(errors.New(why), next)
		}
	}
}

// explains says whether a finding can be the reason of a failure or a wait of seconds: how the search list is walked costs no more
// than the replies take.
func explains(f probe.Finding) bool {
	return !slices.Contains([]string{"search-walk", "ndots-too-low", "hosts-file"}, f.Class)
}

// openQuestion is a host that no finding explains, with what is known about the reasons.
type openQuestion struct {
	// first is its first resolution, all are those under the settings as they are.
	first probe.Resolution
	all   []probe.Resolution
	// direct are the questions that servers were asked.
	direct []probe.Resolution
	facts  fact.Facts
	inPod  bool
}

func (r *run) open(host probe.Resolution) openQuestion {
	o := openQuestion{first: host, facts: r.Facts, inPod: r.Target.Pod != ""}
	for _, res := range r.known.Resolutions {
		now := res.Variant == "" || res.Variant == probe.VariantNow
		switch {
		case res.Purpose == probe.PurposeCompare:
		case res.Question != nil:
			o.direct = append(o.direct, res)
		case res.Host == host.Host && now:
			o.all = append(o.all, res)
		}
	}
	if len(o.all) == 0 {
		o.all = []probe.Resolution{host}
	}
	return o
}

// unexplained says what is odd about the host, and the next step; empty when nothing is.
func (o openQuestion) unexplained() (why, next string) {
	lost, refused, answered, servers := losses(o.all...)
	from := strings.Join(servers, ", ")
	name, failed := printable.Text(o.first.Host, maxName), o.first.Outcome != probe.OK
	switch {
	case failed && len(servers) == 0:
		return fmt.Sprintf("no query was sent for %s: %s does not take it for the name of a host", name, libcName(o.first.Libc)),
			"look for characters that no host name has: only letters, digits, hyphens, underscores and single dots are sent"
	case failed && answered == 0 && lost > 0:
		return o.silence(from, lost)
	case failed && answered == 0 && refused > 0:
		return o.refusal(from)
	case failed:
		return fmt.Sprintf("no verdict on why %s does not resolve (%s): none of this version fits", name, o.first.Outcome),
			"look at its attempts: what each was answered is all there"
	}
	if waited := slices.IndexFunc(o.all, func(res probe.Resolution) bool { return res.Duration >= slow || res.Outcome != probe.OK }); waited >= 0 {
		return o.wait(name, lost, o.all[waited])
	}
	return "", ""
}

// silence is about servers that answered nothing.
func (o openQuestion) silence(from string, lost int) (why, next string) {
	if !o.inPod {
		return fmt.Sprintf("no verdict on why %s stays silent: 0 replies to %s; a firewall, a wrong route and a dead server look the same from here",
			from, messages(lost)), "look whether the server runs, and whether this machine may reach its port 53"
	}
	why = fmt.Sprintf("no verdict on why %s stays silent: 0 replies to %s", from, messages(lost))
	if o.answeredOver(probe.TCP) {
		why += "; the same server answers over TCP, so it is alive, and UDP does not get through"
	}
	policies, policiesKnown := o.facts.Policies()
	endpoints, endpointsKnown := o.facts.Endpoints()
	ready := 0
	for _, e := range endpoints {
		if e.Ready {
			ready++
		}
	}
	if endpointsKnown {
		why += fmt.Sprintf("; %d of %d endpoints of the cluster's DNS are ready", ready, len(endpoints))
	}
	switch {
	case policiesKnown && len(policies) == 0:
		return why + "; no NetworkPolicy selects this pod for egress", "look for policies of the network plugin (Cilium, Calico), for firewalls, and at the routes of this node"
	case policiesKnown:
		return why + "; the NetworkPolicies that select this pod seem to allow it", "look for policies of the network plugin (Cilium, Calico), for firewalls, and at the routes of this node"
	case endpointsKnown:
		return why + "; a policy that blocks egress and a broken network look the same from one pod" + o.unknown(fact.NetworkPolicies, "policies"),
			"look for NetworkPolicies that select this pod: kubectl get networkpolicies"
	}
	return why + "; a policy that blocks egress, a Service without endpoints behind it and a dead server look the same from one pod" + o.unknown(fact.DNSEndpoints, "endpoints"),
		"look for NetworkPolicies that select this pod, and at the endpoints: kubectl -n kube-system get endpointslices -l k8s-app=kube-dns"
}

// refusal is about servers of which ICMP says that they are not there.
func (o openQuestion) refusal(from string) (why, next string) {
	if !o.inPod {
		return fmt.Sprintf("no verdict on why %s cannot be reached (ICMP says so); a server that has stopped and a firewall that rejects look the "+
			"same from here", from), "look whether the server runs, and whether this machine may reach its port 53"
	}
	endpoints, known := o.facts.Endpoints()
	if known && len(endpoints) > 0 {
		return fmt.Sprintf("no verdict on why %s cannot be reached (ICMP says so); the cluster's DNS has endpoints, so this is another server, one that has stopped, "+
			"or kube-proxy on this node does not follow", from), "look at kube-proxy (or what stands in for it) on the pod's node"
	}
	return fmt.Sprintf("no verdict on why %s cannot be reached (ICMP says so); a Service without endpoints and a server that has stopped look the "+
		"same from one pod", from) + o.unknown(fact.DNSEndpoints, "endpoints"), "look at the endpoints: kubectl -n kube-system get endpointslices -l k8s-app=kube-dns"
}

// manyLookups is from when counts of losses say something.
const manyLookups = 20

// wait is about lookups that took seconds, or failed some of the time.
func (o openQuestion) wait(name string, lost int, res probe.Resolution) (why, next string) {
	why = fmt.Sprintf("no verdict on why %s took %.2f s", name, res.Duration.Duration().Seconds())
	if len(o.all) > 1 {
		slowOnes := 0
		for _, r := range o.all {
			if r.Duration >= slow || r.Outcome != probe.OK {
				slowOnes++
			}
		}
		why = fmt.Sprintf("no verdict on why %d of %d lookups of %s failed or took a second or longer (one of them %.2f s)", slowOnes, len(o.all), name, res.Duration.Duration().Seconds())
	}
	if lost == 0 {
		return why + ": every message was answered, some of them late", "look at the attempts for the late replies"
	}
	why += ": " + messages(lost) + " got no reply"
	if res.Libc == probe.Go {
		why += ". Go sends A and AAAA from two source ports, so it is not the race between the halves of a pair"
	}
	if len(o.all) < manyLookups {
		return why + ", and so few lookups cannot tell an accident from a fault", "count what is lost: run again with --count 200"
	}
	return why + ". They fit no pattern that this version knows", "look at which messages were lost (-o json), or count more: --count 1000"
}

// answeredOver says whether a direct question over a transport was answered.
func (o openQuestion) answeredOver(t probe.Transport) bool {
	return slices.ContainsFunc(o.direct, func(res probe.Resolution) bool {
		_, _, answered, _ := losses(res)
		return answered > 0 && res.Question.Transport == t
	})
}

// unknown says why a fact that would tell more is not known, empty when nobody tried to know it.
func (o openQuestion) unknown(name, what string) string {
	why := o.facts[name].Unknown
	if why == "" {
		return ""
	}
	return fmt.Sprintf(" (the %s are not known: %s)", what, printable.Text(strings.TrimSuffix(why, "."), printable.MaxText/2))
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

func libcName(l probe.Libc) string {
	if l == "" {
		return "the libc"
	}
	return printable.Text(string(l), maxName)
}

// maxName bounds a host in a sentence, in bytes.
const maxName = 253

// losses counts the transmissions of resolutions by what came of them, and names the servers.
func losses(list ...probe.Resolution) (lost, refused, answered int, servers []string) {
	for _, res := range list {
		for _, a := range res.Attempts {
			for _, q := range a.Queries {
				for _, t := range q.Transmissions {
					if server := printable.Text(strings.TrimSuffix(t.Server, ":53"), maxName); !slices.Contains(servers, server) {
						servers = append(servers, server)
					}
					switch {
					case t.Received != nil:
						answered++
					case t.Reply == probe.ReplyLost:
						lost++
					case t.Reply == probe.ReplyICMPRefused || t.Reply == probe.ReplyUnreachable:
						refused++
					}
				}
			}
		}
	}
	return lost, refused, answered, servers
}

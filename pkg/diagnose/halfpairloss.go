package diagnose

import (
	"fmt"
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// halfPairLoss: now and then one half of a pair is lost while the other is answered at once, both sent at one moment from one source
// port; never both halves, and the lost one is answered when it is sent again. That fits two messages which race for one entry of
// netfilter's connection table.
//
// One lost half is an accident, so it takes three, and lookups enough to see that whole pairs are not lost. Go sends each half from a
// port of its own: what it loses is no such race.
var halfPairLoss = rule{class: "half-pair-loss", judge: func(v *view) []probe.Finding {
	if v.found[deadBackend.class] || v.found[overlayUDP.class] || v.found[conntrackFull.class] {
		return nil
	}
	for _, server := range askedAt(v.sent()) {
		if v.isNodeCache(server) {
			continue // What goes to the cache on the node is not tracked, so nothing can race for an entry.
		}
		h := v.halves(server)
		if len(h.lost) < samples || h.whole > 0 || h.unsteady || h.pairs < minPairs {
			continue
		}
		return []probe.Finding{v.halfFinding(server, h)}
	}
	return nil
}, page: page{
	needs: "At least 20 pairs that shared a socket (`--count 200`), at least three of which lost one half, none both; each name has to have been answered " +
		"for both types at other times.",
	remedies: "NodeLocal DNSCache. On glibc single-request-reopen; on musl timeout:5 with attempts:10, which sends again every 0.5 s.",
	wrong: "Scaling CoreDNS: the messages never get there. On musl single-request-reopen, single-request and use-vc, which it ignores. A blackhole: the same " +
		"type is answered when it is sent again.",
}}

// minPairs is how many pairs it takes to say that whole pairs are not lost.
const minPairs = 20

// halfLosses is what became of the pairs to a server.
type halfLosses struct {
	pairs int
	// lost are the lost halves, answered the other halves of the same pairs.
	lost, answered []transmission
	// whole counts pairs of which both halves were lost.
	whole int
	// unsteady is set where a lost half is of a question that the server never answered, or whose other half took long.
	unsteady bool
}

func (v *view) halves(server netip.Addr) halfLosses {
	// What was sent to measure variants is left out, so that the counts are those of the lookups that people asked for.
	sent := only(only(v.sent(), udpTo(server)), func(m transmission) bool { return m.r.Purpose.OrAsked() != probe.PurposeWhatIf })
	answeredOnce := map[string]bool{}
	for _, m := range sent {
		if m.replied() {
			answeredOnce[m.question()] = true
		}
	}
	var h halfLosses
	for _, p := range pairings(sent) {
		h.pairs++
		if p.first.lost() && p.second.lost() {
			h.whole++
		}
		lost, other, ok := p.halfLost()
		if !ok {
			continue
		}
		h.lost, h.answered = append(h.lost, lost), append(h.answered, other)
		h.unsteady = h.unsteady || !answeredOnce[lost.question()] || other.rtt() >= slow
	}
	return h
}

func (v *view) halfFinding(server netip.Addr, h halfLosses) probe.Finding {
	lost, other := h.lost[0], h.answered[0]
	again := v.sentAgain(h.lost)
	times := rtts(h.answered)
	f := probe.Finding{
		Severity: severity(lost.r),
		Title: fmt.Sprintf("%d of %s to %s lost one half, and the other half of the same pair was answered in %s (p50): a race between the halves fits.",
			len(h.lost), count(h.pairs, "pair", "pairs"), server, took(median(times))),
		Explain: "A and AAAA leave one source port at the same moment. Where both want the same new entry in netfilter's connection table, one of them can be " +
			"dropped. Both halves of a pair were never lost together, so no server is dead, and other lookups get the lost type at once. " + v.waitText(lost, again) + v.ignoredText(lost.r),
		Evidence: []probe.Evidence{lost.evidence(fmt.Sprintf("%s: %s lost, %s answered after %s from the same socket", clean(lost.a.Name), lost.q.Type, other.q.Type,
			took(other.rtt())))},
		Remedies: v.halfRemedies(lost.r),
	}
	f.Evidence = append(f.Evidence, probe.Evidence{Text: fmt.Sprintf("lost halves: %s; whole pairs lost: 0 of %d", v.lostTypes(h.lost), h.pairs), Resolution: lost.r.ID})
	f.Evidence = append(f.Evidence, v.raceFacts()...)
	return f
}

// lostTypes counts lost halves by type: "AAAA 5, A 0".
func (v *view) lostTypes(lost []transmission) string {
	a := number(lost, func(m transmission) bool { return m.q.Type == probe.TypeA })
	return fmt.Sprintf("AAAA %d, A %d", len(lost)-a, a)
}

// sentAgain is how long the libc waited until it sent a lost half again, 0 when it never did.
func (v *view) sentAgain(lost []transmission) probe.Millis {
	for _, m := range lost {
		for _, t := range m.q.Transmissions {
			if t.Sent > m.t.Sent {
				return t.Sent - m.t.Sent
			}
		}
	}
	return 0
}

// ignoredText says which options that are set for this fault have no effect on the libc.
func (v *view) ignoredText(r *probe.Resolution) string {
	if r.Libc != probe.Musl && r.Libc != probe.CAres {
		return ""
	}
	for _, o := range v.run.Settings.Options {
		if o == "single-request-reopen" || o == "single-request" {
			return fmt.Sprintf(" The option %s is set and has no effect on this target: %s ignores it.", o, libcName(r.Libc))
		}
	}
	return ""
}

// waitText explains the length of the wait.
func (v *view) waitText(lost transmission, again probe.Millis) string {
	s := v.run.Settings
	switch {
	case lost.r.Libc == probe.Musl && again > 0:
		return fmt.Sprintf("musl sends again after timeout/attempts, %d s / %d here: that is the wait of %s, not glibc's 5 s.", s.TimeoutSeconds, s.Attempts, took(again))
	case lost.r.Libc == probe.CAres && again == 0:
		return fmt.Sprintf("c-ares does not ask again for AAAA once it has an address, so a lookup waits %s and goes on without IPv6.", took(lost.r.Duration))
	case again > 0:
		return fmt.Sprintf("%s sends again after its timeout: that is the wait of %s.", libcName(lost.r.Libc), took(again))
	}
	return "The lookup waits until its libc gives up on the lost half."
}

// raceFacts are facts that speak for or against the race, by what is known of the fixes in the kernel: "resolve clash for matching
// conntracks" came with 4.19, "skip nat clash resolution for same-origin entries" with 5.0, both also with later stable releases and
// distribution kernels; neither helps where A and AAAA are sent to two different DNS pods.
func (v *view) raceFacts() []probe.Evidence {
	var out []probe.Evidence
	ready, known := v.readyEndpoints()
	if mode, modeKnown := v.facts.Text(fact.KubeProxyMode); modeKnown && known {
		out = append(out, v.known(fact.KubeProxyMode, fmt.Sprintf("kube-proxy mode %s, %s behind the Service", clean(mode), count(len(ready), "ready endpoint", "ready endpoints"))))
	} else if known {
		out = append(out, v.known(fact.DNSEndpoints, count(len(ready), "ready endpoint", "ready endpoints")+" behind the Service"))
	}
	if cache, known := v.facts.NodeCache(); known && !cache.Exists {
		out = append(out, v.known(fact.NodeLocal, "no NodeLocal DNSCache on this node"))
	}
	kernel, known := v.facts.KernelRelease()
	switch {
	case !known:
	case !kernel.AtLeast(5, 0):
		out = append(out, v.known(fact.Kernel, fmt.Sprintf("kernel %s: fixes for this race came with 4.19 and 5.0, and with later updates of older kernels", clean(kernel.Text))))
	case len(ready) > 1:
		out = append(out, v.known(fact.Kernel, fmt.Sprintf("kernel %s has the fixes of 4.19 and 5.0, which do not cover a pair whose halves are sent to two DNS pods", clean(kernel.Text))))
	default:
		out = append(out, v.known(fact.Kernel, fmt.Sprintf("kernel %s has the fixes of 4.19 and 5.0: a network plugin that queues packets to a program (NFQUEUE) can bring the race back", clean(kernel.Text))))
	}
	return out
}

// halfRemedies fit the libc: what it ignores is not advised.
func (v *view) halfRemedies(r *probe.Resolution) []probe.Remedy {
	durable := probe.Remedy{Text: "NodeLocal DNSCache is the lasting cure: messages to a cache on the node are not tracked, so nothing can race."}
	switch r.Libc {
	case probe.Musl:
		first := probe.Remedy{
			Text:   "Set the options timeout:5 and attempts:10 in dnsConfig: musl then sends again every 0.5 s.",
			Gain:   "Shortens the wait to 0.5 s.",
			Caveat: "A glibc or Go container in the same pod would try a dead server ten times for 5 s each.",
		}
		return []probe.Remedy{first, durable, {Text: "Or an image with glibc, which can ask for A and AAAA one after the other."}}
	case probe.Glibc:
		first := probe.Remedy{
			Text:   "Set the option single-request-reopen in dnsConfig: glibc then asks for A and AAAA one after the other, each from its own port.",
			Caveat: "A lookup takes the time of two replies. Containers with musl ignore it.",
		}
		if w := v.whatIf(r.Host, "single-request-reopen"); w != nil {
			first.Gain = v.gain(r, w)
		}
		return []probe.Remedy{first, durable}
	}
	return []probe.Remedy{durable, {Text: "No dnsConfig option helps: " + libcName(r.Libc) + " ignores single-request and single-request-reopen."}}
}

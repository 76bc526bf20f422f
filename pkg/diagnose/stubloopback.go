package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// stubLoopback: a pod asks an address of its own loopback interface, and nothing listens there: the node's local stub was
// copied into the pod's resolv.conf.
var stubLoopback = rule{class: "stub-loopback", judge: func(v *view) []probe.Finding {
	if v.run.Target.Pod == "" {
		return nil
	}
	for _, r := range v.now {
		first, server := refusedByLoopback(r)
		refused := fmt.Sprintf("refused by %s", clean(server))
		if first == nil {
			if first = onlyLoopback(r); first == nil {
				continue
			}
			// musl never sees that a port is closed: it waits for replies until its time is over.
			if server = v.closedLoopback(); server == "" {
				continue
			}
			refused = fmt.Sprintf("no reply within %s; asked directly, %s refuses", took(r.Duration), clean(server))
		}
		if r.Outcome == probe.OK || !v.asksLoopback() {
			continue
		}
		finding := probe.Finding{
			Severity: probe.Critical,
			Title:    fmt.Sprintf("nameserver %s is the pod's own loopback, and its port is closed: no name resolves.", clean(server)),
			Explain: "The address is that of a local stub on the node (systemd-resolved, dnsmasq). In the pod's own network it means the pod " +
				"itself, where nothing listens.",
			Evidence: []probe.Evidence{at(r, first, clean(first.Name)+": "+refused)},
			Remedies: []probe.Remedy{
				{
					Text:   "Give the kubelet a file without the stub: resolvConf: /run/systemd/resolve/resolv.conf in its configuration.",
					Caveat: "Pods get it when they are created anew.",
				},
				{
					Text:   "Until then set dnsPolicy to ClusterFirst, or to None with nameservers that the pod can reach.",
					Caveat: "dnsConfig alone does not help: its nameservers come after this one.",
				},
			},
		}
		if r.Libc == probe.Musl {
			finding.Explain += fmt.Sprintf(" musl does not see the refusal: the %s that it waits are no lost packets, the port is closed all the time.", took(r.Duration))
		}
		return []probe.Finding{finding}
	}
	return nil
}, asks: func(v *view) []FollowUp {
	for _, r := range v.now {
		first, _ := refusedByLoopback(r)
		if first != nil || onlyLoopback(r) == nil || r.Outcome == probe.OK || v.run.Target.Pod == "" {
			continue
		}
		for _, s := range v.run.Settings.Nameservers {
			if isLoopback(s) {
				return []FollowUp{ask(probe.Question{Server: s, Tries: 1}, strings.TrimSuffix(r.Host, "."), probe.TypeA)}
			}
		}
	}
	return nil
}, page: page{
	needs: "A pod whose nameservers are addresses of its own loopback interface, and an ICMP error from there. musl never sees " +
		"that error, so the address is then asked directly.",
	remedies: "For all pods of the node: give the kubelet a file without the stub, resolvConf: /run/systemd/resolve/resolv.conf. For " +
		"one workload until then: dnsPolicy ClusterFirst, or None with nameservers that the pod can reach.",
	wrong: "A nameserver more in dnsConfig: it comes after the one that refuses. Tuning timeouts: nothing is lost, the port is " +
		"closed. Restarting CoreDNS, which is not asked.",
}}

// closedLoopback returns a loopback nameserver that refused when it was asked directly, empty when none did.
func (v *view) closedLoopback() string {
	for _, r := range v.direct {
		if _, server := refusedByLoopback(r); server != "" {
			return server
		}
	}
	return ""
}

// asksLoopback says whether the file names a loopback address: a libc that can read no nameserver at all asks one of its own accord.
func (v *view) asksLoopback() bool {
	names := v.written().nameservers
	return len(names) == 0 && v.run.Settings.Raw == "" || slices.ContainsFunc(names, isLoopback)
}

// refusedByLoopback returns the first attempt of r and its server when every message went to a loopback address and every one
// was refused.
func refusedByLoopback(r *probe.Resolution) (*probe.Attempt, string) {
	var first *probe.Attempt
	server := ""
	for i := range r.Attempts {
		a := &r.Attempts[i]
		for _, q := range a.Queries {
			for _, t := range q.Transmissions {
				addr, err := netip.ParseAddr(host(t.Server))
				if err != nil || !addr.IsLoopback() || t.Reply != probe.ReplyICMPRefused {
					return nil, ""
				}
				if first == nil {
					first, server = a, addr.String()
				}
			}
		}
	}
	return first, server
}

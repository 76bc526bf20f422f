package diagnose

import (
	"fmt"
	"net/netip"

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
		if first == nil || r.Outcome == probe.OK {
			continue
		}
		return []probe.Finding{{
			Severity: probe.Critical,
			Title:    fmt.Sprintf("nameserver %s is the pod's own loopback, and its port is closed: no name resolves.", clean(server)),
			Explain: "The address is that of a local stub on the node (systemd-resolved, dnsmasq). In the pod's own network it means the pod " +
				"itself, where nothing listens.",
			Evidence: []probe.Evidence{at(r, first, fmt.Sprintf("%s: refused by %s", clean(first.Name), clean(server)))},
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
		}}
	}
	return nil
}}

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

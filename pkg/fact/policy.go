package fact

import (
	"fmt"
	"net/netip"
	"strings"
)

// Policy is a NetworkPolicy that selects the pod for egress: "allow-db: tcp/5432 to 10.50.0.0/16, udp/53 to dns-pods". Without a rule
// it denies everything: "deny-all: nothing".
type Policy struct {
	Name  string
	Rules []PolicyRule
}

// PolicyRule allows something.
type PolicyRule struct {
	// Protocol is "udp", "tcp", "sctp", or "any".
	Protocol string
	// Port is a number or a range ("53", "8000-9000"), or "any".
	Port string
	// To is "any", an IP block ("10.0.0.0/8"), "dns-pods" for a selector that selects the pods of the cluster's DNS, or another
	// selector in words ("pods app=db in kube-system"), which selects other pods.
	To string
}

// ToDNSPods is the peer of a rule whose selector selects the pods of the cluster's DNS.
const ToDNSPods = "dns-pods"

// String writes p as Policies reads it.
func (p Policy) String() string {
	if len(p.Rules) == 0 {
		return p.Name + ": nothing"
	}
	var rules []string
	for _, r := range p.Rules {
		rules = append(rules, fmt.Sprintf("%s/%s to %s", r.Protocol, r.Port, r.To))
	}
	return p.Name + ": " + strings.Join(rules, ", ")
}

// PoliciesText writes a list for the fact NetworkPolicies.
func PoliciesText(list []Policy) string {
	if len(list) == 0 {
		return None
	}
	var lines []string
	for _, p := range list {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "; ")
}

// Policies returns what the fact NetworkPolicies says; known is false when nobody knows. A known empty list means that no policy
// selects the pod, so that everything is allowed.
func (f Facts) Policies() (list []Policy, known bool) {
	text, known := f.Text(NetworkPolicies)
	if !known {
		return nil, false
	}
	for _, entry := range entries(text) {
		name, rest, ok := strings.Cut(entry, ":")
		if !ok {
			return nil, false
		}
		p := Policy{Name: strings.TrimSpace(name)}
		for _, rule := range strings.Split(rest, ",") {
			rule = strings.TrimSpace(rule)
			if rule == "nothing" || rule == "" {
				continue
			}
			what, to, ok := strings.Cut(rule, " to ")
			protocol, port, both := strings.Cut(what, "/")
			if !ok || !both {
				return nil, false
			}
			p.Rules = append(p.Rules, PolicyRule{Protocol: protocol, Port: port, To: strings.TrimSpace(to)})
		}
		list = append(list, p)
	}
	return list, true
}

// Allows says whether some policy of the list lets messages to port 53 of a server pass: policies add up. An empty list allows
// everything. Where a selector decides, dnsPod says whether the server is a pod of the cluster's DNS, or a Service in front of it.
func Allows(list []Policy, protocol string, server netip.Addr, dnsPod bool) bool {
	for _, p := range list {
		for _, r := range p.Rules {
			if (r.Protocol == "any" || r.Protocol == protocol) && portHas(r.Port, 53) && r.reaches(server, dnsPod) {
				return true
			}
		}
	}
	return len(list) == 0
}

func (r PolicyRule) reaches(server netip.Addr, dnsPod bool) bool {
	switch r.To {
	case "any":
		return true
	case ToDNSPods:
		return dnsPod
	}
	block, err := netip.ParsePrefix(strings.Fields(r.To + " -")[0])
	return err == nil && block.Contains(server)
}

func portHas(text string, port int) bool {
	if text == "any" {
		return true
	}
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	return number(from) <= port && port <= number(to)
}

package fact

import (
	"fmt"
	"net/netip"
	"strconv"
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
	// Port is a number or a range ("53", "8000-9000"), "any", or the name of a port of the pods that are meant ("dns").
	Port string
	// To is "any", an IP block, perhaps with exceptions ("10.0.0.0/8", "0.0.0.0/0 except 10.0.0.0/8 169.254.0.0/16"), "dns-pods" or
	// "maybe-dns-pods" for a selector that selects the pods of the cluster's DNS, or another selector in words ("pods app=db in
	// kube-system"), which selects other pods.
	To string
}

// The peers of rules whose selector selects the pods of the cluster's DNS, or could, as far as their labels are known.
const (
	ToDNSPods      = "dns-pods"
	ToMaybeDNSPods = "maybe-dns-pods"
)

// String writes p as Policies reads it.
func (p Policy) String() string {
	if len(p.Rules) == 0 {
		return word(p.Name) + ": nothing"
	}
	var rules []string
	for _, r := range p.Rules {
		rules = append(rules, fmt.Sprintf("%s/%s to %s", plainWord(r.Protocol), plainWord(r.Port), orUnknown(phrase(r.To))))
	}
	return word(p.Name) + ": " + strings.Join(rules, ", ")
}

// plainWord is a word of a rule before its peer, where a slash separates too.
func plainWord(text string) string { return orUnknown(strings.ReplaceAll(word(text), "/", "_")) }

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
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
//
// What is not known for certain counts as allowed, so that a block is only claimed where there is one: a selector that could
// select the pods of the cluster's DNS, and a port that is given by name.
func Allows(list []Policy, protocol string, server netip.Addr, dnsPod bool) bool {
	return AllowsPort(list, protocol, netip.AddrPortFrom(server, 53), dnsPod)
}

// AllowsPort is Allows for another port than 53: pods of the cluster's DNS can listen on another one than their Service has
// (Endpoint.Port), and network plugins differ in which of the two they look at.
func AllowsPort(list []Policy, protocol string, server netip.AddrPort, dnsPod bool) bool {
	for _, p := range list {
		for _, r := range p.Rules {
			if (r.Protocol == "any" || r.Protocol == protocol) && portHas(r.Port, int(server.Port())) && r.reaches(server.Addr(), dnsPod) {
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
	case ToDNSPods, ToMaybeDNSPods:
		return dnsPod
	}
	words := strings.Fields(r.To)
	if len(words) == 0 || !inBlock(words[0], server) {
		return false
	}
	if len(words) > 1 && words[1] == "except" {
		for _, except := range words[2:] {
			if inBlock(except, server) {
				return false
			}
		}
	}
	return true
}

func inBlock(text string, server netip.Addr) bool {
	block, err := netip.ParsePrefix(text)
	return err == nil && block.Contains(server.Unmap())
}

func portHas(text string, port int) bool {
	if text == "any" {
		return true
	}
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	first, err := strconv.Atoi(from)
	if err != nil {
		// The name of a port: which number it stands for is up to each pod.
		return true
	}
	last, err := strconv.Atoi(to)
	return err == nil && first <= port && port <= last
}

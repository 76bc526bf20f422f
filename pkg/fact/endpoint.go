package fact

import (
	"fmt"
	"net/netip"
	"strings"
)

// Endpoint is a server behind the cluster's DNS Service: "10.244.0.5 ready pod=coredns-abc node=node-a restarts=2".
type Endpoint struct {
	Address netip.Addr
	Ready   bool
	Pod     string
	Node    string
	// Restarts counts those of the containers of the pod.
	Restarts int
	// Port is where the server listens, 0 for 53: the cluster's DNS Service has 53 in front of whatever it is. NetworkPolicies are
	// held against this one by network plugins that look after the Service's address was replaced.
	Port int
}

// String writes e as Endpoints reads it.
func (e Endpoint) String() string {
	words := []string{e.Address.String(), "ready"}
	if !e.Ready {
		words[1] = "not-ready"
	}
	if e.Pod != "" {
		words = append(words, "pod="+word(e.Pod))
	}
	if e.Node != "" {
		words = append(words, "node="+word(e.Node))
	}
	if e.Restarts > 0 {
		words = append(words, fmt.Sprintf("restarts=%d", e.Restarts))
	}
	if e.Port > 0 && e.Port != 53 {
		words = append(words, fmt.Sprintf("port=%d", e.Port))
	}
	return strings.Join(words, " ")
}

// EndpointsText writes a list for the fact DNSEndpoints.
func EndpointsText(list []Endpoint) string {
	if len(list) == 0 {
		return None
	}
	var lines []string
	for _, e := range list {
		lines = append(lines, e.String())
	}
	return strings.Join(lines, "; ")
}

// Endpoints returns what the fact DNSEndpoints says; known is false when nobody knows. A known empty list means that there are
// none.
func (f Facts) Endpoints() (list []Endpoint, known bool) {
	text, known := f.Text(DNSEndpoints)
	if !known {
		return nil, false
	}
	for _, entry := range entries(text) {
		words := strings.Fields(entry)
		addr, err := parseAddr(words[0])
		if err != nil {
			return nil, false
		}
		list = append(list, Endpoint{
			Address: addr, Ready: !has(words, "not-ready"), Pod: valueOf(words, "pod"), Node: valueOf(words, "node"), Restarts: number(valueOf(words, "restarts")),
			Port: number(valueOf(words, "port")),
		})
	}
	return list, true
}

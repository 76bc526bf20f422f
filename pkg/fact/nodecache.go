package fact

import (
	"net/netip"
	"strings"
)

// NodeCache is a NodeLocal DNSCache on the pod's node: "169.254.20.10 10.96.0.10 ready pod=node-local-dns-x1". Addresses are those it
// listens on.
type NodeCache struct {
	// Exists is false where it is known that there is none; nothing else is set then.
	Exists    bool
	Addresses []netip.Addr
	Ready     bool
	Pod       string
}

// Text writes c as Facts.NodeCache reads it.
func (c NodeCache) Text() string {
	if !c.Exists {
		return None
	}
	var words []string
	for _, a := range c.Addresses {
		words = append(words, a.String())
	}
	if c.Ready {
		words = append(words, "ready")
	} else {
		words = append(words, "not-ready")
	}
	if c.Pod != "" {
		words = append(words, "pod="+word(c.Pod))
	}
	return strings.Join(words, " ")
}

// NodeCache returns what the fact NodeLocal says; known is false when nobody knows.
func (f Facts) NodeCache() (c NodeCache, known bool) {
	text, known := f.Text(NodeLocal)
	if !known {
		return NodeCache{}, false
	}
	if text == None {
		return NodeCache{}, true
	}
	words := strings.Fields(text)
	return NodeCache{Exists: true, Addresses: Addresses(text), Ready: has(words, "ready"), Pod: valueOf(words, "pod")}, true
}

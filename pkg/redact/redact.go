// Package redact makes a run fit to be shown to people who may not know names and addresses of the place where it was made. The same
// name always gets the same stand-in, so that everything that can be concluded from the run still can be.
//
// It works on whole events and knows of each field what it may hold: what it does not know is treated as text that may hold
// anything. Stand-ins are numbered as they appear; nothing in the output leads back to what they stand for.
package redact

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Redactor replaces names and addresses. It is not safe for concurrent use.
type Redactor struct {
	labels    map[string]string
	addresses map[netip.Addr]string
	v4, v6    int
	// dropped counts events and fields that this version does not know: what cannot be read cannot be redacted.
	dropped int
}

// New returns a Redactor that has seen nothing yet.
func New() *Redactor {
	return &Redactor{labels: map[string]string{}, addresses: map[netip.Addr]string{}}
}

// kept are fields whose values are of a fixed vocabulary.
var kept = set(`event schema outcome type rcode transport origin libc libcVersion source purpose severity class code flags reason use answeredBy version
	agent via startedAt reply fact resolution kind apiVersion build id options caller dnsPolicy`)

// named are fields that hold names, addresses, or text made of them.
var named = set(`host hosts name namespace pod container node data nameservers search raw nsswitch image server addresses value env hostname line`)

// common are labels and words that say nothing about a place.
var common = set(`svc cluster local kubernetes default kube-system kube-dns coredns internal com net org io dev app cloud arpa in-addr ip6 localhost
	ip6-localhost ip6-loopback ip6-allnodes ip6-allrouters localdomain nameserver search options ndots timeout attempts domain sortlist rotate edns0 trust-ad
	no-aaaa use-vc single-request single-request-reopen no-tld-query no-reload inet6 debug files dns hosts compat myhostname mdns4_minimal
	NOTFOUND return success unavail continue none nothing any all to in ready not-ready headless publish-not-ready restarts phase Running Pending
	Succeeded Failed pods dns-pods udp tcp sctp true false capture ClusterIP ExternalName ClusterFirst ClusterFirstWithHostNet Default None iptables ipvs
	nftables redacted pod pods node service services spec status configmap daemonset namespace endpointslice endpointslices events
	Deployment StatefulSet DaemonSet ReplicaSet Job CronJob Pod Service exists istio-proxy linkerd-proxy and of for`)

// whole are dotted words that are no names of a place.
var whole = set(`resolv.conf nsswitch.conf gai.conf host.conf hosts.conf libc.so resolv.h e.g i.e cluster.local svc.cluster.local`)

// Event returns ev as it may be shown, and false for one that has to be left out.
func (r *Redactor) Event(ev probe.Event) (probe.Event, bool) {
	if len(ev.Raw) > 0 {
		r.dropped++
		if !ev.Kind.Known() {
			return probe.Event{}, false
		}
		ev.Raw = nil
	}
	text, err := json.Marshal(ev)
	if err != nil {
		r.dropped++
		return probe.Event{}, false
	}
	var tree any
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		r.dropped++
		return probe.Event{}, false
	}
	var out probe.Event
	if text, err = json.Marshal(r.tree("", tree)); err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		r.dropped++
		return probe.Event{}, false
	}
	return out, true
}

// Dropped is how many events and fields were left out because this version does not know them.
func (r *Redactor) Dropped() int { return r.dropped }

// tree redacts what stands under a key.
func (r *Redactor) tree(key string, v any) any {
	switch v := v.(type) {
	case string:
		switch {
		case kept[key]:
			return v
		case named[key]:
			return r.Name(v)
		}
		return r.Text(v)
	case []any:
		for i := range v {
			v[i] = r.tree(key, v[i])
		}
	case map[string]any:
		if t, isRecord := v["type"].(string); isRecord && v["data"] != nil && t != "A" && t != "AAAA" && t != "CNAME" {
			v["data"] = "(redacted)"
		}
		out := make(map[string]any, len(v))
		// Names come before the texts that speak of them.
		for _, first := range []bool{true, false} {
			for k, e := range v {
				if named[k] == first {
					out[r.factName(key, k)] = r.tree(below(key, k), e)
				}
			}
		}
		return out
	}
	return v
}

// below is the key under which a value is judged: a fact's value and the variables of the environment hold names, whatever they are
// called.
func below(parent, key string) string {
	switch {
	case parent == "env":
		return "value"
	case parent == "facts":
		return "one fact"
	case parent == "one fact" && key != "unknown":
		return "value"
	}
	return key
}

// factName redacts the name of a fact that is about an object ("service ledger.billing").
func (r *Redactor) factName(parent, key string) string {
	prefix, rest, found := strings.Cut(key, " ")
	if parent != "facts" || !found {
		return key
	}
	return prefix + " " + r.Name(rest)
}

var (
	v4Pattern    = regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}\b`)
	v6Pattern    = regexp.MustCompile(`(?i)(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?:%[0-9a-z_.-]+)?`)
	labelPattern = regexp.MustCompile(`[\p{L}\p{N}_\\-]+`)
	namePattern  = regexp.MustCompile(`[\p{L}\p{N}_\\-]+(?:\.[\p{L}\p{N}_\\-]+)+`)
	numeric      = regexp.MustCompile(`^[0-9.:+-]*$`)
)

// Name redacts a value that is a name, an address, or made of such: every label that is not common gets a stand-in.
func (r *Redactor) Name(text string) string {
	return r.outsideAddresses(text, func(part string) string {
		return labelPattern.ReplaceAllStringFunc(part, func(label string) string { return r.label(label, true) })
	})
}

// Text redacts a sentence: addresses, dotted names, and every label that was seen in a name before.
func (r *Redactor) Text(text string) string {
	return r.outsideAddresses(text, func(part string) string {
		part = namePattern.ReplaceAllStringFunc(part, func(name string) string {
			last := name[strings.LastIndexByte(name, '.')+1:]
			if whole[name] || numeric.MatchString(last) || numeric.MatchString(name[:strings.IndexByte(name, '.')]) {
				return name
			}
			return labelPattern.ReplaceAllStringFunc(name, func(label string) string { return r.label(label, true) })
		})
		return labelPattern.ReplaceAllStringFunc(part, func(label string) string { return r.label(label, false) })
	})
}

// outsideAddresses gives addresses their stand-ins, and the text between them to do.
func (r *Redactor) outsideAddresses(text string, do func(string) string) string {
	var b strings.Builder
	for text != "" {
		at := firstAddress(text)
		if at == nil {
			break
		}
		b.WriteString(do(text[:at[0]]))
		b.WriteString(r.address(text[at[0]:at[1]]))
		text = text[at[1]:]
	}
	return b.String() + do(text)
}

// firstAddress finds the first IP address in a text.
func firstAddress(text string) []int {
	var first []int
	for _, pattern := range []*regexp.Regexp{v4Pattern, v6Pattern} {
		for _, at := range pattern.FindAllStringIndex(text, -1) {
			if _, err := netip.ParseAddr(text[at[0]:at[1]]); err != nil {
				continue
			}
			if first == nil || at[0] < first[0] {
				first = at
			}
			break
		}
	}
	return first
}

// address returns the stand-in of an address, from the blocks for documentation and benchmarks. Loopback and the unspecified address
// say nothing about a place, and much about a fault.
func (r *Redactor) address(text string) string {
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.IsLoopback() || addr.IsUnspecified() {
		return text
	}
	addr = addr.WithZone("")
	if known, ok := r.addresses[addr]; ok {
		return known
	}
	var stand string
	if addr.Is4() {
		r.v4++
		stand = netip.AddrFrom4([4]byte{198, 18, byte(r.v4 >> 8), byte(r.v4)}).String()
	} else {
		r.v6++
		stand = netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 14: byte(r.v6 >> 8), 15: byte(r.v6)}).String()
	}
	r.addresses[addr] = stand
	return stand
}

// label returns the stand-in of a label; learn gives one to a label that has none yet.
func (r *Redactor) label(label string, learn bool) string {
	if common[label] || numeric.MatchString(label) {
		return label
	}
	key := strings.ToLower(label)
	if common[key] {
		return label
	}
	stand, known := r.labels[key]
	switch {
	case known:
		return stand
	case !learn:
		return label
	}
	stand = "n" + strconv.Itoa(len(r.labels)+1)
	r.labels[key] = stand
	return stand
}

// Learn makes sure that the labels of names are replaced in texts that come before any event with them.
func (r *Redactor) Learn(names ...string) {
	for _, n := range names {
		r.Name(n)
	}
}

// Note says what was left out, empty when nothing was.
func (r *Redactor) Note() string {
	if r.dropped == 0 {
		return ""
	}
	return fmt.Sprintf("%d events or fields are not known to this version and were left out, since they could not be redacted", r.dropped)
}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestResolvconfInvalidInFull(t *testing.T) {
	want := `resolvconf-invalid (critical) The element "." of the search list is the root, and musl 1.2.3 ends the lookup of www.example.net there, after 5.00 s.
  It is number 4 of 4, and what comes after it is never asked, www.example.net itself among it. glibc, Go, newer c-ares and musl from 1.2.4 on take a lone dot; musl up to 1.2.3 sends a malformed query for it, and c-ares 1.18 refuses the whole lookup.
  - www.example.net..: no reply for A and AAAA, 5.00 s [r-www.example.net-now #4]
  > Set dnsPolicy to None and write the list out without ".": nameserver 198.19.0.10, search shop.svc.cluster.local svc.cluster.local cluster.local, ndots 5. |  | 
  > With ndots 2 www.example.net is asked as it is before the search list. |  | Hosts with fewer dots still end at that element.
  > At the source: update the kubelet to 1.25.1 or later, which leaves the dot out, or strip it from the node's file. |  | Pods get it when they are created anew.
`
	if diff := cmp.Diff(want, told(Diagnose(loneDot(probe.Musl, "1.2.3")))); diff != "" {
		t.Error(diff)
	}
}

// loopback is a pod whose resolv.conf has this nameserver line, and that therefore asks its own loopback address.
func loopback(line string, tr trace) Input {
	settings := withRaw(kubernetes(5), "search shop.svc.cluster.local\n"+line+"\noptions ndots:5\n")
	settings.Nameservers = []string{"127.0.0.1"}
	return inPod(input(settings, tr))
}

func TestResolvconfInvalidVerdicts(t *testing.T) {
	refused := by("127.0.0.1:53", message{reply: probe.ReplyICMPRefused, after: ms})
	closed := trace{host: "x.example", outcome: probe.Again, tries: []try{
		{name: "x.example.shop.svc.cluster.local.", outcome: probe.Unreachable, a: []message{refused}, aaaa: []message{refused}},
	}}
	answered := trace{host: "x.example", outcome: probe.OK, addresses: []string{"203.0.113.7"}, tries: []try{
		pair("x.example.", -1, probe.OK, by("127.0.0.1:53", found(ms, "203.0.113.7")), by("127.0.0.1:53", empty(ms))),
	}}
	nothing := trace{host: "x.example", outcome: probe.Again, decidedBy: -1}
	zero := func(word string, attempts, timeout int, tr trace) Input {
		settings := withRaw(kubernetes(5), "options "+word+"\n")
		settings.Options, settings.Attempts, settings.TimeoutSeconds = []string{word}, attempts, timeout
		return input(settings, tr)
	}
	musl := nothing
	musl.libc = probe.Musl
	comment := withRaw(kubernetes(5), "search shop.svc.cluster.local svc.cluster.local # old\n")
	comment.Search = []string{"shop.svc.cluster.local", "svc.cluster.local", "#", "old"}
	indented := withRaw(probe.Settings{Nameservers: []string{"198.19.0.10"}, Ndots: 1}, "  search shop.svc.cluster.local\nnameserver 198.19.0.10\n")
	catalog := trace{host: "catalog", outcome: probe.NXDomain, tries: []try{denied("catalog.", -1, ms)}}
	whole := withRaw(kubernetes(5), "search shop.svc.cluster.local svc.cluster.local cluster.local ec2.internal\n")
	port := withRaw(kubernetes(5), "nameserver 10.96.0.10:53\nnameserver 198.19.0.10\n")
	checkVerdicts(t, map[string]judged{
		"the right server has a port":             {judging(input(port, nowhere(), said("10.96.0.10", "ledger.core.svc.cluster.local", probe.OK, "10.96.44.7")), "ledger.core"), "resolvconf-invalid"},
		"it has a port, and not the name":         {judging(input(port, nowhere(), said("10.96.0.10", "ledger.core.svc.cluster.local", probe.NXDomain)), "ledger.core"), "no-such-name"},
		"a port behind the address":               {loopback("nameserver 198.19.0.10:53", closed), "resolvconf-invalid"},
		"a loopback address that is written":      {loopback("nameserver 127.0.0.1", closed), "stub-loopback"},
		"something answers at loopback":           {loopback("nameserver dns.example", answered), "healthy"},
		"glibc with attempts:0":                   {zero("attempts:0", 0, 5, nothing), "resolvconf-invalid"},
		"musl with timeout:0":                     {zero("timeout:0", 2, 0, musl), "resolvconf-invalid"},
		"glibc takes timeout:0 for 1":             {zero("timeout:0", 2, 0, nothing), ""},
		"a comment that is asked for":             {input(comment, trace{host: "x.example", outcome: probe.OK, addresses: []string{"203.0.113.7"}, tries: []try{denied("x.example.#.", 2, ms), pair("x.example.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms))}}), "resolvconf-invalid search-walk"},
		"a comment that is never come to":         {input(comment, trace{host: "x", outcome: probe.OK, addresses: []string{"10.0.0.1"}, tries: []try{pair("x.shop.svc.cluster.local.", 0, probe.OK, found(ms, "10.0.0.1"), empty(ms))}}), "healthy"},
		"an indented line, and the name is there": {judging(input(indented, catalog, said("198.19.0.10", "catalog.shop.svc.cluster.local", probe.OK, "10.0.0.1")), "catalog"), "resolvconf-invalid"},
		"an indented line, and it is not":         {judging(input(indented, catalog, said("198.19.0.10", "catalog.shop.svc.cluster.local", probe.NXDomain)), "catalog"), "no-such-name"},
		"a file that is read as it is written":    {input(whole, nowhere()), "no-such-name"},
		"a dot that glibc takes for the root":     {rootIsFine(), "search-walk healthy"},
	})
	if got := wanted(judging(input(indented, catalog), "catalog")); got == "" {
		t.Error("nothing is asked although a line was passed over")
	}
}

// rootIsFine is O18 with glibc.
func rootIsFine() Input {
	in := loneDot(probe.Glibc, "2.36")
	host := "www.example.net"
	return input(in.Run.Settings, trace{host: host, outcome: probe.OK, addresses: []string{"198.51.100.50"}, tries: []try{
		denied(host+".shop.svc.cluster.local.", 0, ms), denied(host+".svc.cluster.local.", 1, ms), denied(host+".cluster.local.", 2, ms),
		pair(host+".", 3, probe.OK, found(ms, "198.51.100.50"), empty(ms)),
	}})
}

package fact

import (
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

var addresses = cmp.Comparer(func(a, b netip.Addr) bool { return a == b })

func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

// hostile is a name that would be several entries, or commands for a terminal, if it were written as it is.
const hostile = "x; 192.0.2.66 ready pod=forged, all: any/any to any\n\x1b[2Jnone"

func TestUnknownFacts(t *testing.T) {
	for name, f := range map[string]Facts{"nothing": {}, "unknown": {
		DNSEndpoints: {Unknown: "no"}, NetworkPolicies: {Unknown: "no"}, NodeLocal: {Unknown: "no"}, "service a.b": {Unknown: "no"},
		"pod a.b": {Unknown: "no"}, Mesh: {Unknown: "no"}, Kernel: {Unknown: "no"}, PodStarted: {Unknown: "no"}, Environment: {Unknown: "no"},
	}, "unreadable": {
		DNSEndpoints: {Value: "soon"}, NetworkPolicies: {Value: "all of them"}, NodeLocal: {Value: ""}, "service a.b": {Value: " "},
		"pod a.b": {Value: ""}, Mesh: {Value: " "}, Kernel: {Value: "new"}, PodStarted: {Value: "-1s"}, Environment: {Value: ""},
	}} {
		_, endpoints := f.Endpoints()
		_, policies := f.Policies()
		_, cache := f.NodeCache()
		_, service := f.Service("a", "b")
		_, peer := f.Peer("a", "b")
		_, sidecar := f.Sidecar()
		_, release := f.KernelRelease()
		_, age := f.Age(PodStarted)
		_, names := f.Names(Environment)
		for i, known := range []bool{endpoints, policies, cache, service, peer, sidecar, release, age, names} {
			if known {
				t.Errorf("%s: reader %d knows something", name, i)
			}
		}
	}
}

func TestEndpoints(t *testing.T) {
	list := []Endpoint{
		{Address: ip("10.244.0.5"), Ready: true, Pod: "coredns-abc", Node: "node-a", Restarts: 2},
		{Address: ip("fd00::5"), Pod: "coredns-def", Port: 5353},
	}
	text := EndpointsText(list)
	if want := "10.244.0.5 ready pod=coredns-abc node=node-a restarts=2; fd00::5 not-ready pod=coredns-def port=5353"; text != want {
		t.Errorf("text %q, want %q", text, want)
	}
	got, known := Facts{DNSEndpoints: {Value: text}}.Endpoints()
	if diff := cmp.Diff(list, got, addresses); !known || diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
	if got, known := (Facts{DNSEndpoints: {Value: EndpointsText(nil)}}).Endpoints(); !known || len(got) != 0 {
		t.Errorf("none: %v, known %v", got, known)
	}
	got, _ = Facts{DNSEndpoints: {Value: EndpointsText([]Endpoint{{Address: ip("10.0.0.1"), Pod: hostile, Node: hostile}})}}.Endpoints()
	if len(got) != 1 || got[0].Ready || got[0].Address != ip("10.0.0.1") {
		t.Errorf("a hostile name became %+v", got)
	}
}

func TestPolicies(t *testing.T) {
	list := []Policy{
		{Name: "allow-db", Rules: []PolicyRule{
			{Protocol: "tcp", Port: "5432", To: "10.50.0.0/16"},
			{Protocol: "udp", Port: "53", To: ToDNSPods},
			{Protocol: "any", Port: "any", To: "0.0.0.0/0 except 10.0.0.0/8 169.254.0.0/16"},
			{Protocol: "sctp", Port: "8000-9000", To: "pods app=db in kube-system"},
		}},
		{Name: "deny-all"},
	}
	text := PoliciesText(list)
	want := "allow-db: tcp/5432 to 10.50.0.0/16, udp/53 to dns-pods, any/any to 0.0.0.0/0 except 10.0.0.0/8 169.254.0.0/16, " +
		"sctp/8000-9000 to pods app=db in kube-system; deny-all: nothing"
	if text != want {
		t.Errorf("text %q, want %q", text, want)
	}
	got, known := Facts{NetworkPolicies: {Value: text}}.Policies()
	if diff := cmp.Diff(list, got); !known || diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
	if got, known := (Facts{NetworkPolicies: {Value: PoliciesText(nil)}}).Policies(); !known || len(got) != 0 {
		t.Errorf("none: %v, known %v", got, known)
	}
	evil := Policy{Name: hostile, Rules: []PolicyRule{{Protocol: hostile, Port: hostile, To: hostile}}}
	got, known = Facts{NetworkPolicies: {Value: PoliciesText([]Policy{evil})}}.Policies()
	if !known || len(got) != 1 || len(got[0].Rules) != 1 || Allows(got, "udp", ip("192.0.2.66"), true) {
		t.Errorf("a hostile policy became %+v", got)
	}
}

func TestAllows(t *testing.T) {
	dns, cache, db := ip("10.96.0.10"), ip("169.254.20.10"), ip("10.50.0.1")
	for _, tt := range []struct {
		policies, protocol string
		server             netip.Addr
		dnsPod, want       bool
	}{
		{"none", "udp", dns, true, true},
		{"deny: nothing", "udp", dns, true, false},
		{"a: udp/53 to dns-pods", "udp", dns, true, true},
		{"a: udp/53 to dns-pods", "tcp", dns, true, false},
		{"a: udp/53 to dns-pods", "udp", cache, false, false},
		{"a: udp/53 to maybe-dns-pods", "udp", dns, true, true},
		{"a: any/53 to any", "tcp", cache, false, true},
		{"a: udp/any to 169.254.20.10/32", "udp", cache, false, true},
		{"a: udp/50-60 to 169.254.0.0/16", "udp", cache, false, true},
		{"a: udp/54-60 to any", "udp", cache, false, false},
		{"a: udp/dns to any", "udp", cache, false, true},
		{"a: any/any to 0.0.0.0/0 except 10.96.0.0/12 192.0.2.0/24", "udp", dns, true, false},
		{"a: any/any to 0.0.0.0/0 except 10.96.0.0/12 192.0.2.0/24", "udp", db, false, true},
		{"a: tcp/5432 to 10.50.0.0/16", "tcp", db, false, false},
		{"a: any/any to pods app=db in kube-system", "udp", dns, true, false},
		{"deny: nothing; a: udp/53 to any", "udp", dns, true, true},
		{"a: udp/53 to 10.96.0.0/12", "udp", ip("::ffff:10.96.0.10"), true, true},
	} {
		list, known := Facts{NetworkPolicies: {Value: tt.policies}}.Policies()
		if got := Allows(list, tt.protocol, tt.server, tt.dnsPod); !known || got != tt.want {
			t.Errorf("%s: %s to %s: %v, want %v", tt.policies, tt.protocol, tt.server, got, tt.want)
		}
	}
	list, _ := Facts{NetworkPolicies: {Value: "a: udp/5353 to dns-pods"}}.Policies()
	if Allows(list, "udp", dns, true) || !AllowsPort(list, "udp", netip.AddrPortFrom(dns, 5353), true) {
		t.Error("the port behind the Service is not told from 53")
	}
}

func TestNodeCache(t *testing.T) {
	for _, want := range []NodeCache{
		{}, {Exists: true, Addresses: []netip.Addr{ip("169.254.20.10"), ip("10.96.0.10")}, Ready: true, Pod: "node-local-dns-x1"}, {Exists: true},
	} {
		got, known := Facts{NodeLocal: {Value: want.Text()}}.NodeCache()
		if diff := cmp.Diff(want, got, addresses); !known || diff != "" {
			t.Errorf("%q (-want +got):\n%s", want.Text(), diff)
		}
	}
}

func TestServices(t *testing.T) {
	for text, want := range map[string]Service{
		"none":                                        {},
		"ClusterIP 10.96.33.3 ready=2":                {Exists: true, ClusterIP: ip("10.96.33.3"), Ready: 2},
		"headless ready=1 not-ready=1":                {Exists: true, Headless: true, Ready: 1, NotReady: 1},
		"headless ready=1 publish-not-ready":          {Exists: true, Headless: true, Ready: 1, PublishNotReady: true},
		"headless":                                    {Exists: true, Headless: true, EndpointsUnknown: true},
		"ExternalName db.example.com":                 {Exists: true, ExternalName: "db.example.com"},
		"ClusterIP fd00::3 ready=0 publish-not-ready": {Exists: true, ClusterIP: ip("fd00::3"), PublishNotReady: true},
	} {
		want.Name, want.Namespace = "ledger", "billing"
		got, known := Facts{ServiceName("ledger", "billing"): {Value: text}}.Service("ledger", "billing")
		if diff := cmp.Diff(want, got, addresses); !known || diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
		if got.Text() != text {
			t.Errorf("%q is written as %q", text, got.Text())
		}
	}
	for _, text := range []string{"ClusterIP", "ClusterIP x", "ExternalName", "LoadBalancer 10.0.0.1"} {
		if got, known := (Facts{"service a.b": {Value: text}}).Service("a", "b"); known {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestPeers(t *testing.T) {
	for text, want := range map[string]Peer{
		"none": {},
		"10.244.1.21 not-ready phase=Running node=node-b": {Exists: true, Address: ip("10.244.1.21"), Phase: "Running", Node: "node-b"},
		"ready":                   {Exists: true, Ready: true},
		"not-ready phase=Pending": {Exists: true, Phase: "Pending"},
	} {
		want.Name, want.Namespace = "node-1", "store"
		got, known := Facts{PodName("node-1", "store"): {Value: text}}.Peer("node-1", "store")
		if diff := cmp.Diff(want, got, addresses); !known || diff != "" || got.Text() != text {
			t.Errorf("%q is written as %q (-want +got):\n%s", text, got.Text(), diff)
		}
	}
}

func TestSidecars(t *testing.T) {
	for text, want := range map[string]Sidecar{
		"none":                        {},
		"istio-proxy capture=true":    {Exists: true, Name: "istio-proxy", Capture: "true"},
		"linkerd-proxy capture=false": {Exists: true, Name: "linkerd-proxy", Capture: "false"},
		"kuma-sidecar":                {Exists: true, Name: "kuma-sidecar", Capture: "unknown"},
	} {
		got, known := Facts{Mesh: {Value: text}}.Sidecar()
		if !known || got != want || !strings.HasPrefix(got.Text(), text) {
			t.Errorf("%q: %+v, written as %q", text, got, got.Text())
		}
	}
}

func TestKernelRelease(t *testing.T) {
	for text, want := range map[string]Release{
		"5.15.0-91-generic":             {5, 15, "5.15.0-91-generic"},
		"4.18.0-513.el8.x86_64":         {4, 18, "4.18.0-513.el8.x86_64"},
		"6.6":                           {6, 6, "6.6"},
		"5.15.153.1-microsoft-standard": {5, 15, "5.15.153.1-microsoft-standard"},
	} {
		got, known := Facts{Kernel: {Value: text}}.KernelRelease()
		if !known || got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for _, text := range []string{"", "linux", "5", "5.x", "-5.1", "5.99999999999999999999"} {
		if got, known := (Facts{Kernel: {Value: text}}).KernelRelease(); known {
			t.Errorf("%q: %+v", text, got)
		}
	}
	r := Release{Major: 4, Minor: 19}
	if !r.AtLeast(4, 19) || !r.AtLeast(3, 20) || r.AtLeast(5, 0) || r.AtLeast(4, 20) || r.String() != "4.19" {
		t.Errorf("%s compares wrongly", r)
	}
}

func TestNamesAndAges(t *testing.T) {
	f := Facts{Environment: {Value: NamesText([]string{"db.shop", "a b"})}, NamesInUse: {Value: NamesText(nil)}, PodStarted: {Value: "52h0m0s"}}
	if got, known := f.Names(Environment); !known || cmp.Diff([]string{"db.shop", "a_b"}, got) != "" {
		t.Errorf("names %q", got)
	}
	if got, known := f.Names(NamesInUse); !known || len(got) != 0 {
		t.Errorf("no names: %q, known %v", got, known)
	}
	if got, known := f.Age(PodStarted); !known || got != 52*time.Hour {
		t.Errorf("age %s, known %v", got, known)
	}
}

// FuzzReaders gives every reader the same text. None may panic, what a writer makes of what was read must be read as the same
// again, and nothing written may be more than a line that a terminal can be shown.
func FuzzReaders(f *testing.F) {
	for _, text := range []string{
		"", " ", ";", "none", "10.244.0.5 ready pod=a; fd00::1 not-ready port=5353", "p: udp/53 to dns-pods, any/any to 0.0.0.0/0 except 10.0.0.0/8; q: nothing",
		"headless ready=1", "ClusterIP 10.0.0.1 ready=2 not-ready=-1", "ExternalName a", "istio-proxy capture=true", "5.15.0", "1h", stockCorefile, "{\nx", hostile,
		"169.254.20.10 10.96.0.10 ready pod=x", "10.244.1.21 not-ready phase=Running node=node-b", ": nothing", "fe80::1%\x1b[2J",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		of := func(name, value string) Facts { return Facts{name: probe.Fact{Value: value}} }
		ParseCorefile(text)
		ZoneOfCluster(ParseCorefile(text))
		of(PodStarted, text).Age(PodStarted)
		of(Kernel, text).KernelRelease()
		same := func(what, value string, read func(string) (string, bool)) {
			written, known := read(value)
			if !known {
				return
			}
			if strings.ContainsFunc(written, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%s: %q was written as %q", what, value, written)
			}
			// Once words are harmless, they stay as they are.
			if again, known := read(written); !known || again != written {
				t.Errorf("%s: %q was written as %q and then as %q (known %v)", what, value, written, again, known)
			}
		}
		same("endpoints", text, func(s string) (string, bool) { l, k := of(DNSEndpoints, s).Endpoints(); return EndpointsText(l), k })
		same("policies", text, func(s string) (string, bool) {
			l, k := of(NetworkPolicies, s).Policies()
			Allows(l, "udp", ip("10.0.0.1"), true)
			return PoliciesText(l), k
		})
		same("cache", text, func(s string) (string, bool) { c, k := of(NodeLocal, s).NodeCache(); return c.Text(), k })
		same("service", text, func(s string) (string, bool) { v, k := of("service a.b", s).Service("a", "b"); return v.Text(), k })
		same("pod", text, func(s string) (string, bool) { p, k := of("pod a.b", s).Peer("a", "b"); return p.Text(), k })
		same("sidecar", text, func(s string) (string, bool) { v, k := of(Mesh, s).Sidecar(); return v.Text(), k })
		same("names", text, func(s string) (string, bool) { l, k := of(Environment, s).Names(Environment); return NamesText(l), k })
	})
}

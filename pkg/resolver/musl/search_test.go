package musl

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

func TestNoSearchWithEnoughDots(t *testing.T) {
	sys := settings(ns1 + "search a.test\noptions ndots:2\n")
	for name, want := range map[string]string{
		"x":      "A x.a.test. 2; AAAA x.a.test. 2; A x. 2; AAAA x. 2; EAI_NONAME",
		"x.y":    "A x.y.a.test. 2; AAAA x.y.a.test. 2; A x.y. 2; AAAA x.y. 2; EAI_NONAME",
		"x.y.z":  "A x.y.z. 2; AAAA x.y.z. 2; EAI_NONAME",
		"x.":     "A x. 2; AAAA x. 2; EAI_NONAME",
		"x..":    "EAI_NONAME",
		".":      "EAI_NONAME",
		"":       "EAI_NONAME",
		"x\x00y": "A x.a.test. 2; AAAA x.a.test. 2; A x. 2; AAAA x. 2; EAI_NONAME",
	} {
		newModel(t, latest, sys).Want(host(name), want)
	}
}

func TestRootOnTheSearchList(t *testing.T) {
	sys := settings(ns1 + "search .\noptions ndots:5 timeout:1\n")
	rule := "x - - - - a:192.0.2.1 aaaa:2001:db8::1"
	newModel(t, latest, sys, rule).Want(host("x"), "A x. 2; AAAA x. 2; ok 2001:db8::1 192.0.2.1")
	m := newModel(t, middle, sys, rule)
	m.Want(host("x"), "A x.. 2; AAAA x.. 2; A x.. 2@500ms; AAAA x.. 2@500ms; EAI_AGAIN in 1s")
	if r := m.Trace(); r.Attempts[0].Outcome != probe.Timeout || r.Attempts[0].Queries[0].Transmissions[0].Reply != probe.ReplyLost {
		t.Errorf("%+v", r.Attempts)
	}
}

func TestBrokenMessage(t *testing.T) {
	r := New(middle, resolver.System{})
	labels, broken, err := r.encode("x.y..")
	if err != nil || !broken {
		t.Fatalf("%q %v %v", labels, broken, err)
	}
	want := "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01x\x01y.\x00\x1c\x00\x01\x00"
	if got := brokenMessage(labels, resolver.Query{ID: 0x1234, Type: probe.TypeAAAA}); string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNamesThatCannotBeSent(t *testing.T) {
	long := strings.Repeat("l", 64)
	sys := settings(ns1 + "search .a.test " + long + ".test b.test\noptions ndots:5\n")
	rule := "x.b.test - - - - a:192.0.2.1 aaaa:2001:db8::1"
	newModel(t, latest, sys, rule).Want(host("x"), "A x.b.test. 2; AAAA x.b.test. 2; ok 2001:db8::1 192.0.2.1")
	m := newModel(t, middle, sys, rule)
	m.Want(host("x"), "EAI_NONAME")
	if !strings.Contains(m.Notes(), "gives the whole lookup up") {
		t.Errorf("notes: %s", m.Notes())
	}
	for _, name := range []string{"a..b", ".a", long + ".x", strings.Repeat("a.", 126) + "bc."} {
		for _, version := range []string{middle, latest} {
			newModel(t, version, settings(ns1)).Want(host(name), "EAI_NONAME")
		}
	}
	name := strings.Repeat("a.", 126) + "b."
	newModel(t, latest, settings(ns1)).Want(host(name), "A "+name+" 2; AAAA "+name+" 2; EAI_NONAME")
	newModel(t, latest, settings(ns1)).Want(host(strings.Repeat("a.", 127)+"b"), "EAI_NONAME")
}

// A candidate that does not fit musl's buffer of 256 bytes is passed over by all versions; one that fits but is no name is
// not.
func TestCandidatesThatAreTooLong(t *testing.T) {
	domain := strings.Repeat("d.", 118) + "test"
	name := strings.Repeat("n", 15)
	sys := settings(ns1 + "search " + domain + " b.test\n")
	want := "A " + name + ".b.test. 2; AAAA " + name + ".b.test. 2; A " + name + ". 2; AAAA " + name + ". 2; EAI_NONAME"
	newModel(t, middle, sys).Want(host(name), want)
	newModel(t, latest, sys).Want(host(name), want)
	shorter := name[1:]
	newModel(t, middle, sys).Want(host(shorter), "EAI_NONAME")
}

func TestAnyBytesAreSent(t *testing.T) {
	for name, shown := range map[string]string{
		"fo o/*.bar.": `fo\032o/*.bar.`, "b\xc3\xbc.test.": `b\195\188.test.`, `a\.b.`: `a\\.b.`, `a\046b.`: `a\\046b.`, "-FOO.": "-FOO.",
	} {
		newModel(t, latest, settings(ns1)).Want(host(name), "A "+shown+" 2; AAAA "+shown+" 2; EAI_NONAME")
	}
}

func TestFilesAreReadOnEveryCall(t *testing.T) {
	m := newModel(t, latest, settings(ns1))
	m.Want(host("x."), "A x. 2; AAAA x. 2; EAI_NONAME")
	m.r.SetSystem(settings("nameserver 127.0.0.3\n"))
	m.Want(host("x."), "A x. 3; AAAA x. 3; EAI_NONAME")
	m.r.SetSystem(resolver.System{ResolvConf: "nameserver 127.0.0.3\noptions timeout:1 attempts:1", NoResolvConf: true})
	m.Want(host("x."), "A x. 1; AAAA x. 1; A x. 1@2.5s; AAAA x. 1@2.5s; EAI_AGAIN in 5.01s")
}

func TestNoDataEndsTheSearch(t *testing.T) {
	sys := settings(k8s)
	rules := []string{"x.shop.* - - - - nodata", "x - - - - a:192.0.2.1"}
	newModel(t, latest, sys, rules...).Want(host("x"), "A x.shop.svc.cluster.local. 2; AAAA x.shop.svc.cluster.local. 2; EAI_NODATA")
	newModel(t, middle, sys, rules...).Want(host("x"), "A x.shop.svc.cluster.local. 2; AAAA x.shop.svc.cluster.local. 2; EAI_NONAME")
}

// Before 1.2.1 a CNAME in the AAAA reply of a candidate whose A reply is NXDOMAIN overwrites the host in the buffer that the next
// candidate is put together in.
func TestAliasOverwritesTheHost(t *testing.T) {
	sys := settings(ns1 + "search a.test b.test\noptions ndots:5\n")
	rules := []string{"xy.a.test A - - - nx", "xy.a.test AAAA - - - cname:other.example"}
	newModel(t, old, sys, rules...).Want(host("xy"),
		"A xy.a.test. 2; AAAA xy.a.test. 2; A othb.test. 2; AAAA othb.test. 2; A xy. 2; AAAA xy. 2; EAI_NONAME")
	newModel(t, middle, sys, rules...).Want(host("xy"),
		"A xy.a.test. 2; AAAA xy.a.test. 2; A xy.b.test. 2; AAAA xy.b.test. 2; A xy. 2; AAAA xy. 2; EAI_NONAME")
}

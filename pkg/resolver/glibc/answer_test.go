package glibc

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// reply builds a reply about x.test. from words: "A:192.0.2.1", "AAAA:2001:db8::1", "CNAME:target", "bad" (an A record with data
// of a wrong length), "chaos:192.0.2.1" (an A record of another class), each for the owner in front of a "=", or x.test.
func reply(qtype uint16, words string) *resolver.Reply {
	r := &resolver.Reply{
		Size: 100, Response: true, RA: true, QDCount: 1,
		Questions: []resolver.Question{{Name: "x.test.", Type: qtype, Class: resolver.ClassIN}},
	}
	for word := range strings.FieldsSeq(words) {
		owner, what, found := strings.Cut(word, "=")
		if !found {
			owner, what = "x.test.", word
		}
		kind, data, _ := strings.Cut(what, ":")
		rr := resolver.Record{Name: owner, Class: resolver.ClassIN, Type: resolver.TypeA}
		switch kind {
		case "A":
			rr.Addr = netip.MustParseAddr(data)
		case "AAAA":
			rr.Type, rr.Addr = resolver.TypeAAAA, netip.MustParseAddr(data)
		case "CNAME":
			rr.Type, rr.Target = resolver.TypeCNAME, data
		case "chaos":
			rr.Class, rr.Addr = 3, netip.MustParseAddr(data)
		case "cut":
			// The message ends here although its header promises more.
			r.ANCount++
			continue
		}
		r.Answers = append(r.Answers, rr)
		r.ANCount++
	}
	return r
}

var statusWords = map[status]string{success: "success", notFound: "notfound", unavail: "unavail", tryAgain: "tryagain"}

func TestParsers(t *testing.T) {
	// The parsers are slice, hostAnswer for IPv4, and both as they were before 2.37.
	for _, c := range []struct{ answers, slice, host, oldSlice, oldHost string }{
		{"", "notfound", "tryagain", "notfound", "tryagain"},
		{"A:192.0.2.1", "success 192.0.2.1 (x.test)", "success 192.0.2.1 (x.test)", "success 192.0.2.1 (x.test)", "success 192.0.2.1 (x.test)"},
		{"X.TEST.=A:192.0.2.1", "success 192.0.2.1 (x.test)", "success 192.0.2.1 (x.test)", "success 192.0.2.1 (X.TEST)", "success 192.0.2.1 (x.test)"},
		{"CNAME:y. y.=A:192.0.2.1", "success 192.0.2.1 (y)", "success 192.0.2.1 (y)", "success 192.0.2.1 (y)", "success 192.0.2.1 (y)"},
		{"CNAME:y.", "notfound", "tryagain", "notfound", "tryagain"},
		{"y.=A:192.0.2.1", "notfound", "tryagain", "success 192.0.2.1 (y)", "tryagain"},
		{"z.=CNAME:y. y.=A:192.0.2.1", "success 192.0.2.1 (y)", "success 192.0.2.1 (y)", "success 192.0.2.1 (y)", "success 192.0.2.1 (y)"},
		{"CNAME:*.y. *.y.=A:192.0.2.1", "success 192.0.2.1 (x.test)", "success 192.0.2.1 (x.test)", "tryagain", "tryagain"},
		{"A:192.0.2.1 cut", "unavail", "unavail", "success 192.0.2.1 (x.test)", "success 192.0.2.1 (x.test)"},
		{"CNAME:", "unavail", "unavail", "tryagain", "tryagain"},
		{"bad A:192.0.2.1", "success 192.0.2.1 (x.test)", "success 192.0.2.1 (x.test)", "tryagain", "tryagain"},
		{"AAAA:2001:db8::1", "notfound", "tryagain", "success 2001:db8::1 (x.test)", "tryagain"},
		{"chaos:192.0.2.1", "success 192.0.2.1 (x.test)", "tryagain", "tryagain", "tryagain"},
		{"*.z.=A:192.0.2.1", "notfound", "tryagain", "tryagain", "tryagain"},
	} {
		for i, want := range []string{c.slice, c.host, c.oldSlice, c.oldHost} {
			cl := &call{r: New("", resolver.System{})}
			r, buf := reply(resolver.TypeA, c.answers), &scratch{size: 1024}
			var out addressList
			var st status
			switch i {
			case 0:
				st = cl.slice(r, buf, &out, true)
			case 1:
				out, st = cl.hostAnswer(r, inet, buf)
			case 2:
				st = cl.oldSlice(r, buf, &out, true)
			case 3:
				out, st = cl.oldHostAnswer(r, inet, buf)
			}
			got := statusWords[st]
			if st == success {
				got += fmt.Sprintf(" %s (%s)", strings.Trim(fmt.Sprint(out.addrs), "[]"), out.canon)
			}
			if got != want {
				t.Errorf("%q, parser %d: %s, want %s", c.answers, i, got, want)
			}
		}
	}
}

// TestQuestions: a reply without exactly one question that can be read is no answer, nor one about a strange name.
func TestQuestions(t *testing.T) {
	for want, change := range map[string]func(*resolver.Reply){
		"unavail": func(r *resolver.Reply) { r.QDCount, r.Questions = 0, nil },
		"notfound": func(r *resolver.Reply) {
			r.Questions[0].Name = "x.#."
			r.Answers[0].Name = "x.#."
		},
	} {
		r := reply(resolver.TypeA, "A:192.0.2.1")
		change(r)
		c := &call{r: New("", resolver.System{})}
		_, st := c.pairAnswer(&found{first: r}, &scratch{size: 1024})
		_, host := c.hostAnswer(r, inet, &scratch{size: 1024})
		if statusWords[st] != want || host != st {
			t.Errorf("%s and %s, want %s", statusWords[st], statusWords[host], want)
		}
	}
}

// TestPairAnswer: the table above gaih_getanswer.
func TestPairAnswer(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"A:192.0.2.1", "AAAA:2001:db8::1", "success [192.0.2.1 2001:db8::1]"},
		{"A:192.0.2.1", "CNAME:y.", "success [192.0.2.1]"},
		{"A:192.0.2.1", "CNAME:", "success [192.0.2.1]"},
		{"CNAME:y.", "AAAA:2001:db8::1", "success [2001:db8::1]"},
		{"CNAME:y.", "CNAME:y.", "notfound []"},
		{"CNAME:y.", "CNAME:", "unavail []"},
		{"CNAME:", "AAAA:2001:db8::1", "unavail []"},
		{"-", "AAAA:2001:db8::1", "success [2001:db8::1]"},
		{"A:192.0.2.1", "-", "success [192.0.2.1]"},
	} {
		var f found
		if c.first != "-" {
			f.first = reply(resolver.TypeA, c.first)
		}
		if c.second != "-" {
			f.second = reply(resolver.TypeAAAA, c.second)
		}
		cl := &call{r: New("", resolver.System{})}
		out, st := cl.pairAnswer(&f, &scratch{size: 1024})
		if got := fmt.Sprint(statusWords[st], " ", out.addrs); got != c.want {
			t.Errorf("%q and %q: %s, want %s", c.first, c.second, got, c.want)
		}
	}
}

func TestOldParsersAskForRoom(t *testing.T) {
	request := resolver.Request{Host: "x.y.", Family: "inet"}
	for n, rounds := range map[int]int{50: 1, 51: 2} {
		m := newModel(t, "2.35", settings(ns1), fmt.Sprintf("* - - - - pad:%d", n))
		m.Want(request, strings.Repeat("A x.y. 2; ", rounds)+"ok"+addresses(n))
	}
	// Names take room, too.
	target := strings.Repeat("long-name.", 20) + "test"
	m := newModel(t, "2.35", settings(ns1), "* - - - - cname:"+target+" pad:28")
	m.Want(request, "A x.y. 2; A x.y. 2; ok"+addresses(28))
	m = newModel(t, "2.35", settings(ns1), "* - - - - cname:"+target+" pad:21")
	m.Want(host("x.y."), "A x.y. 2; AAAA x.y. 2; A x.y. 2; AAAA x.y. 2; ok"+addresses(21))
}

func TestMappedAddressesOfTheServer(t *testing.T) {
	mapped := resolver.Request{Host: "x.", Family: "inet6", V4Mapped: true}
	newModel(t, observedBuild, settings(ns1), "* - - - - aaaa:::ffff:192.0.2.1 aaaa:2001:db8::1").Want(mapped, "AAAA x. 2; ok 2001:db8::1")
	newModel(t, observedBuild, settings(ns1), "* - - - - aaaa:::ffff:192.0.2.1").Want(mapped, "AAAA x. 2; EAI_NONAME")
}

// TestMappedAddressesBesideOthers is AI_ALL, which Go sets when it leaves a lookup to glibc.
func TestMappedAddressesBesideOthers(t *testing.T) {
	all := resolver.Request{Host: "x.", Family: "inet6", V4Mapped: true, All: true}
	newModel(t, observedBuild, settings(ns1), "* - - - - a:192.0.2.1 aaaa:2001:db8::1").Want(all, "AAAA x. 2; A x. 2; ok 2001:db8::1 ::ffff:192.0.2.1")
}

package glibc

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// TestSearch: which candidate ends the search, which one decides, and what each came to.
func TestSearch(t *testing.T) {
	l63 := strings.Repeat("a", 63)
	long := l63 + "." + l63 + "." + l63 + "." + strings.Repeat("d", 55)
	for _, c := range []struct {
		name, conf, host string
		rules            []string
		outcomes, code   string
	}{
		{"nxdomain goes on", "search s t\n", "x", nil, "x.s. nxdomain, x.t. nxdomain, x. nxdomain!", "EAI_NONAME"},
		{"nodata goes on and decides", "search s t\n", "x", []string{"x.s - - - - nodata"}, "x.s. nodata!, x.t. nxdomain, x. nxdomain", "EAI_NODATA"},
		{"servfail goes on and decides", "search s t\n", "x", []string{"x.t - - - - servfail"}, "x.s. nxdomain, x.t. servfail!, x. nxdomain", "EAI_AGAIN"},
		{
			"nodata before servfail", "search s t\n", "x",
			[]string{"x.s - - - - servfail", "x.t - - - - nodata"},
			"x.s. servfail, x.t. nodata!, x. nxdomain", "EAI_NODATA",
		},
		{"refused leaves the list", "search s t\n", "x", []string{"x.s - - - - refused"}, "x.s. refused, x. nxdomain!", "EAI_NONAME"},
		{"notimp leaves the list", "search s t\n", "x", []string{"x.s - - - - notimp"}, "x.s. notimp, x. nxdomain!", "EAI_NONAME"},
		{"formerr leaves the list", "search s t\n", "x", []string{"x.s - - - - formerr"}, "x.s. formerr, x. nxdomain!", "EAI_NONAME"},
		{"an unknown rcode leaves the list", "search s t\n", "x", []string{"x.s - - - - rcode:9"}, "x.s. fail, x. nxdomain!", "EAI_NONAME"},
		{"lame leaves the list", "search s t\n", "x", []string{"x.s - - - - lame"}, "x.s. lame, x. nxdomain!", "EAI_NONAME"},
		{"silence leaves the list", "search s t\n", "x", []string{"x.s - - - - drop"}, "x.s. timeout, x. nxdomain!", "EAI_NONAME"},
		{"as-is first decides", "search s t\noptions ndots:0\n", "x", []string{"x.s - - - - drop"}, "x. nxdomain!, x.s. timeout", "EAI_NONAME"},
		{
			"servfail, then silence counts as servfail", "search s t\n", "x",
			[]string{"x.s A - - 1 servfail", "x.s AAAA - - 1 servfail", "x.s - - - - drop"},
			"x.s. servfail!, x.t. nxdomain, x. nxdomain", "EAI_AGAIN",
		},
		{
			"a spurious servfail header counts, too", "search s t\n", "x",
			[]string{"x.s - - - - servfail badid"},
			"x.s. servfail!, x.t. nxdomain, x. nxdomain", "EAI_AGAIN",
		},
		{"an alias without target ends everything", "search s t\n", "x", []string{"x.s - - - - cname:y"}, "x.s. nodata!", "EAI_NONAME"},
		{"nxdomain with an alias goes on", "search s\n", "x", []string{"x.s - - - - cname:y nx"}, "x.s. nxdomain, x. nxdomain!", "EAI_NONAME"},
		{"nobody there", "nameserver 127.0.0.9\nsearch s t\n", "x", nil, "x.s. unreachable!", "EAI_AGAIN"},
		{"nobody there, as-is first", "nameserver 127.0.0.9\nsearch s t\noptions ndots:0\n", "x", nil, "x. unreachable, x.s. unreachable!", "EAI_AGAIN"},
		{"attempts:0", "search s t\noptions attempts:0\n", "x", nil, "x.s. unsent!", "EAI_AGAIN"},
		{"root on the list", "search s . t\n", "x", nil, "x.s. nxdomain, x. nxdomain, x.t. nxdomain!", "EAI_NONAME"},
		{"a domain with a dot in front", "search .s\n", "x", nil, "x.s. nxdomain, x. nxdomain!", "EAI_NONAME"},
		{"no-tld-query", "search s\noptions no-tld-query\n", "x", nil, "x.s. nxdomain!", "EAI_NONAME"},
		{"no-tld-query without a search list", "options no-tld-query\n", "x", nil, "x. nxdomain!", "EAI_NONAME"},
		{"no-tld-query and a dot", "search s\noptions no-tld-query ndots:2\n", "x.y", nil, "x.y.s. nxdomain, x.y. nxdomain!", "EAI_NONAME"},
		{"too long with a domain", "search ok.test s\noptions ndots:9\n", long, nil, long + ".ok.test. unsent, " + long + ". nxdomain!", "EAI_NONAME"},
		{"the empty name", "search s.test\n", "", nil, ".s.test. unsent, . unsent!", "EAI_NONAME"},
		{"the empty name and a root domain", "search .\n", "", nil, ". nxdomain!", "EAI_NONAME"},
		{
			"a big negative reply hides a servfail from the search loop", "search s t u\n", "x",
			[]string{"x.s - - - - pad:200 pad6:200 nx", "x.t - - - - servfail"},
			"x.s. nxdomain, x.t. servfail, x. nxdomain!", "EAI_NONAME",
		},
		{"an escaped domain", `search a\046b` + "\n", "x", nil, `x.a\.b. nxdomain, x. nxdomain!`, "EAI_NONAME"},
		{"a domain that is no host name has no addresses", "search #\n", "x", []string{"x.# - - - - a:192.0.2.1"}, "x.#. nodata!", "EAI_NONAME"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := c.conf
			if !strings.Contains(conf, "nameserver") {
				conf = "nameserver 127.0.0.2\n" + conf
			}
			m := newModel(t, observedBuild, settings(conf+"options timeout:1\n"), c.rules...)
			got := m.Ask(host(c.host))
			if code := strings.Fields(got[strings.LastIndex(got, "; ")+1:]); len(code) == 0 || strings.TrimPrefix(code[0], ";") != c.code {
				t.Errorf("%s, want %s", got, c.code)
			}
			if o := m.Outcomes(); o != c.outcomes {
				t.Errorf("outcomes %s\nwant     %s", o, c.outcomes)
			}
		})
	}
}

// TestRounds: the numbers of addresses at which the real library repeats the lookup.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		req    resolver.Request
		rules  []string
		rounds int
	}{
		{host("x.y."), []string{"* A - - - pad:25", "* - - - - nodata"}, 1},
		{host("x.y."), []string{"* A - - - pad:26", "* - - - - nodata"}, 2},
		{host("x.y."), []string{"* A - - - pad:51", "* - - - - nodata"}, 2},
		{host("x.y."), []string{"* A - - - pad:52", "* - - - - nodata"}, 3},
		{host("x.y."), []string{"* A - - - pad:200", "* - - - - nodata"}, 4},
		{host("x.y."), []string{"* - - - - pad:13 pad6:12"}, 1},
		{host("x.y."), []string{"* - - - - pad:13 pad6:13"}, 2},
		{host("payments.billing.svc.cluster.local."), []string{"* A - - - pad:24", "* - - - - nodata"}, 1},
		{host("payments.billing.svc.cluster.local."), []string{"* A - - - pad:25", "* - - - - nodata"}, 2},
		{host("x.y."), []string{"* A - - - cname:longer.name.example.test pad:24", "* - - - - nodata"}, 1},
		{host("x.y."), []string{"* A - - - cname:longer.name.example.test pad:25", "* - - - - nodata"}, 2},
		{resolver.Request{Host: "x.y.", Family: "inet"}, []string{"* - - - - pad:83"}, 1},
		{resolver.Request{Host: "x.y.", Family: "inet"}, []string{"* - - - - pad:84"}, 2},
		{resolver.Request{Host: "x.y.", Family: "inet6"}, []string{"* - - - - pad6:41"}, 1},
		{resolver.Request{Host: "x.y.", Family: "inet6"}, []string{"* - - - - pad6:42"}, 2},
	} {
		m := newModel(t, observedBuild, settings("nameserver 127.0.0.2\n"), c.rules...)
		m.Ask(c.req)
		rounds := 0
		for _, ev := range m.Events {
			if ev.Kind == probe.KindAttempt {
				rounds++
			}
		}
		notes := strings.Count(m.Notes(), "repeats the whole lookup")
		if rounds != c.rounds || notes != c.rounds-1 {
			t.Errorf("%+v %q: %d rounds and %d notes, want %d rounds", c.req, c.rules, rounds, notes, c.rounds)
		}
	}
}

package engine

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/caller"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// server is the only one of most worlds below.
var server = netip.MustParseAddr("198.19.0.10")

func address(kind simnet.ActionKind, addr string) []simnet.Action {
	return []simnet.Action{{Kind: kind, Addr: netip.MustParseAddr(addr)}}
}

// sent lists what a resolution sent, one "type name" for each message in order of attempts; Go's pairs are sorted by type.
func sent(r probe.Resolution) []string {
	var list []string
	for _, a := range r.Attempts {
		for _, q := range a.Queries {
			for range q.Transmissions {
				list = append(list, string(q.Type)+" "+a.Name)
			}
		}
	}
	return list
}

// with returns an engine like model's in a pod with these addresses.
func with(e *Engine, addrs ...string) *Engine {
	system := e.System
	e.System = func(ctx context.Context) (resolver.System, error) {
		sys, err := system(ctx)
		for _, a := range addrs {
			sys.Addresses = append(sys.Addresses, netip.MustParseAddr(a))
		}
		return sys, err
	}
	return e
}

const twoDomains = "search a.test b.test\nnameserver 198.19.0.10\noptions ndots:2\n"

// Each row is a statement of package caller that somebody observed, or read in the source where the row says so.
func TestCallersSendWhatTheySend(t *testing.T) {
	v4only := []string{"127.0.0.1", "10.0.0.7"}
	found := []simnet.Rule{{Name: "x.b.test", Do: address(simnet.ActA, "203.0.113.7")}}
	for _, c := range []struct {
		name, word, host, conf string
		addrs                  []string
		rules                  []simnet.Rule
		types                  []probe.QueryType
		addrConfig             bool
		want                   string
	}{
		{name: "the JVM asks for both families", word: "jvm", host: "x.b.test.", want: "A x.b.test. AAAA x.b.test."},
		{name: "the JVM asks for A only without any IPv6 address", word: "jvm", host: "x.b.test.", addrs: v4only, want: "A x.b.test."},
		{name: "a link-local address is one", word: "jvm", host: "x.b.test.", addrs: append([]string{"fe80::1"}, v4only...), want: "A x.b.test. AAAA x.b.test."},
		{name: "Node has no AI_ADDRCONFIG", word: "node", host: "x.b.test.", addrs: v4only, want: "A x.b.test. AAAA x.b.test."},
		{name: "Node's http has it", word: "node", host: "x.b.test.", addrs: v4only, addrConfig: true, want: "A x.b.test."},
		{name: "Node writes small letters", word: "node", host: "X.b.Test.", want: "A x.b.test. AAAA x.b.test."},
		{name: "dns.resolve4, too", word: "node-resolve", host: "X.Y", want: "A x.y."},
		{name: "dns.resolve4 sends one query", word: "node-resolve", host: "x", want: "A x."},
		{name: "dns.resolve6, too", word: "node-resolve", host: "x", types: []probe.QueryType{probe.TypeAAAA}, want: "AAAA x."},
		{name: "and one only after SERVFAIL", word: "node-resolve", host: "x.y", rules: []simnet.Rule{{Do: []simnet.Action{{Kind: simnet.ActRcode, N: 2}}}}, want: "A x.y."},
		{name: "Python has no flags", word: "python", host: "x.b.test.", addrs: v4only, want: "A x.b.test. AAAA x.b.test."},
		{name: "gethostbyname", word: "python", host: "x.b.test.", types: []probe.QueryType{probe.TypeA}, want: "A x.b.test."},
		{
			name: "Envoy asks for AAAA, then for A (documented)", word: "envoy", host: "x",
			want: "AAAA x.a.test. AAAA x.b.test. AAAA x. A x.a.test. A x.b.test.",
		},
		{
			name: "Envoy leaves it at AAAA (documented)", word: "envoy", host: "x", rules: []simnet.Rule{{Name: "x.b.test", Do: address(simnet.ActAAAA, "2001:db8::7")}},
			want: "AAAA x.a.test. AAAA x.b.test.",
		},
		{
			name: "gRPC-Go asks for TXT, too (documented)", word: "grpc-go", host: "x",
			want: "A x.a.test. AAAA x.a.test. A x.b.test. AAAA x.b.test. TXT _grpc_config.x.a.test. TXT _grpc_config.x.b.test. TXT _grpc_config.x.",
		},
		{
			name: "and for SRV before all (documented)", word: "grpc-go-grpclb", host: "x.b.test.",
			want: "SRV _grpclb._tcp.x.b.test. A x.b.test. AAAA x.b.test. TXT _grpc_config.x.b.test.",
		},
		{name: "an address needs no lookup", word: "grpc-go-grpclb", host: "203.0.113.7", want: ""},
		{name: "nginx has AI_ADDRCONFIG (documented)", word: "nginx", host: "x.b.test.", addrs: v4only, want: "A x.b.test."},
		{
			name: "getent hosts asks for AAAA through the whole list, then for A", word: "getent", host: "x",
			want: "AAAA x.a.test. AAAA x.b.test. AAAA x. A x.a.test. A x.b.test.",
		},
		{name: "getent ahosts has AI_ADDRCONFIG", word: "getent-ahosts", host: "x.b.test.", addrs: v4only, want: "A x.b.test."},
		{name: "dig has no search list", word: "dig", host: "x", want: "A x."},
		{name: "dig +search goes on after NXDOMAIN, and ends with the name as it is", word: "dig+search", host: "y", want: "A y.a.test. A y.b.test. A y."},
		{name: "it stops at success", word: "dig+search", host: "x", want: "A x.a.test. A x.b.test."},
		{name: "at SERVFAIL", word: "dig+search", host: "x", rules: []simnet.Rule{{Name: "x.a.test", Do: []simnet.Action{{Kind: simnet.ActRcode, N: 2}}}}, want: "A x.a.test."},
		{name: "at NODATA", word: "dig+search", host: "x", rules: []simnet.Rule{{Name: "x.a.test"}}, want: "A x.a.test."},
		{name: "and does not search with ndots dots", word: "dig+search", host: "x.y", conf: strings.Replace(twoDomains, "ndots:2", "ndots:1", 1), want: "A x.y."},
		{
			name: "busybox asks for all, whatever is found", word: "nslookup-busybox", host: "x",
			want: "A x.a.test. AAAA x.a.test. A x.b.test. AAAA x.b.test.",
		},
		{name: "busybox asks for a name with a dot as it is", word: "nslookup-busybox", host: "x.y", want: "A x.y. AAAA x.y."},
		{
			name: "busybox sends again at once after SERVFAIL", word: "nslookup-busybox", host: "x.y", rules: []simnet.Rule{{Do: []simnet.Action{{Kind: simnet.ActRcode, N: 2}}}},
			want: "A x.y. A x.y. A x.y. AAAA x.y. AAAA x.y. AAAA x.y.",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.conf == "" {
				c.conf = twoDomains
			}
			if c.rules == nil {
				c.rules = found
			}
			e := with(model(t, c.conf, simnet.World{Rules: c.rules}), c.addrs...)
			r := resolve(t, e, probe.Ask{Host: c.host, Caller: c.word, Types: c.types, AddrConfig: c.addrConfig})
			got := sent(r)
			if c.word == "grpc-go" || c.word == "grpc-go-grpclb" {
				sortPairs(got)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, want %q", strings.Join(got, " "), c.want)
			}
			if len(r.Notes) == 0 || !strings.HasPrefix(r.Notes[0], "follows "+c.word+": ") {
				t.Errorf("the trace does not say which path it follows: %q", r.Notes)
			}
		})
	}
}

// sortPairs puts A before AAAA in neighbours with the same name: Go sends them in no order.
func sortPairs(list []string) {
	for i := 1; i < len(list); i++ {
		if strings.HasPrefix(list[i], "A ") && list[i-1] == "AAAA "+list[i][2:] {
			list[i-1], list[i] = list[i], list[i-1]
		}
	}
}

// timeline lists server and time in milliseconds of each message, and how many sockets and ids there were.
func timeline(r probe.Resolution) (times []probe.Millis, servers []string, sockets, ids int) {
	type message struct {
		at     probe.Millis
		server string
	}
	var all []message
	seenSocket, seenID := map[int]bool{}, map[uint16]bool{}
	for _, a := range r.Attempts {
		for _, q := range a.Queries {
			for _, tr := range q.Transmissions {
				all = append(all, message{tr.Sent, tr.Server})
				seenSocket[tr.Socket], seenID[tr.ID] = true, true
			}
		}
	}
	slices.SortStableFunc(all, func(a, b message) int { return int(a.at - b.at) })
	for _, m := range all {
		times, servers = append(times, m.at), append(servers, strings.TrimSuffix(m.server, ":53"))
	}
	return times, servers, len(seenSocket), len(seenID)
}

func seconds(list ...float64) []probe.Millis {
	var out []probe.Millis
	for _, s := range list {
		out = append(out, probe.Millis(s*float64(time.Second)))
	}
	return out
}

func TestToolsWaitAsTheyDo(t *testing.T) {
	const two = "nameserver 198.19.0.10\nnameserver 198.19.0.11\n"
	silent := simnet.World{Servers: []simnet.Server{{Addr: server, Silent: true}, {Addr: netip.MustParseAddr("198.19.0.11"), Silent: true}}}
	for _, c := range []struct {
		name, word, conf string
		times            []probe.Millis
		first            int // messages to the first server
		sockets, ids     int
		ends             float64
	}{
		{"dig asks the first server three times and the second once", "dig", two, seconds(0, 5, 10, 15), 3, 4, 1, 20},
		{"dig reads timeout and attempts", "dig", two + "options timeout:1 attempts:4\n", seconds(0, 1, 2, 3, 4), 4, 5, 1, 5},
		{"busybox asks each server twice, from a socket for each", "nslookup-busybox", two, seconds(0, 0, 2.5, 2.5, 5, 5, 7.5, 7.5), 4, 2, 2, 10},
		{"busybox reads neither", "nslookup-busybox", two + "options timeout:1 attempts:1\n", seconds(0, 0, 2.5, 2.5, 5, 5, 7.5, 7.5), 4, 2, 2, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := resolve(t, model(t, c.conf, silent), probe.Ask{Host: "x.test", Caller: c.word})
			times, servers, sockets, ids := timeline(r)
			if !slices.Equal(times, c.times) || sockets != c.sockets || ids != c.ids || r.Duration != seconds(c.ends)[0] || r.Outcome != probe.Again {
				t.Errorf("%s after %v: sent at %v, %d sockets, %d ids", r.Outcome, r.Duration, times, sockets, ids)
			}
			if n := slices.Index(servers, "198.19.0.11"); n != c.first {
				t.Errorf("the second server is asked after %d messages to the first, want %d: %v", n, c.first, servers)
			}
		})
	}
}

func TestNodeResolveHasTheTimeoutOfResolvConfAndFourTries(t *testing.T) {
	w := simnet.World{Servers: []simnet.Server{{Addr: server, Silent: true}}}
	r := resolve(t, model(t, "nameserver 198.19.0.10\noptions timeout:1 attempts:1\n", w), probe.Ask{Host: "x.test", Caller: "node-resolve"})
	times, _, _, _ := timeline(r)
	if len(times) != 4 || times[1] != seconds(1)[0] {
		t.Errorf("sent at %v", times)
	}
}

func TestNodeResolveKnowsNoHostsFile(t *testing.T) {
	e := model(t, twoDomains, simnet.World{})
	system := e.System
	e.System = func(ctx context.Context) (resolver.System, error) {
		sys, err := system(ctx)
		sys.Hosts = "203.0.113.9 printer\n"
		return sys, err
	}
	if r := resolve(t, e, probe.Ask{Host: "printer", Caller: "node-resolve"}); r.Outcome != probe.NXDomain || r.QueriesSent != 1 {
		t.Errorf("%s with %d queries", r.Outcome, r.QueriesSent)
	}
	if r := resolve(t, e, probe.Ask{Host: "printer", Caller: "node"}); r.Outcome != probe.OK || r.QueriesSent != 0 {
		t.Errorf("dns.lookup: %s with %d queries", r.Outcome, r.QueriesSent)
	}
}

func TestGRPCGoGivesUpAfterTenSeconds(t *testing.T) {
	w := simnet.World{Servers: []simnet.Server{{Addr: server, Silent: true}}}
	r := resolve(t, model(t, podConf, w), probe.Ask{Host: "api.stripe.com", Caller: "grpc-go"})
	if r.Outcome != probe.Again || r.Duration != seconds(10)[0] || r.Libc != probe.Go {
		t.Errorf("%s after %v through %s", r.Outcome, r.Duration, r.Libc)
	}
	for _, a := range r.Attempts {
		if strings.HasPrefix(a.Name, "_grpc_config.") {
			t.Errorf("asks for %s after a lookup that failed for now", a.Name)
		}
	}
}

func TestSocketsOfACallersStepsAreToldApart(t *testing.T) {
	r := resolve(t, model(t, twoDomains, simnet.World{}), probe.Ask{Host: "y.z.", Caller: "getent"})
	_, _, sockets, _ := timeline(r)
	if sockets != 2 || r.Attempts[1].N != 2 || r.Attempts[1].Queries[0].Type != probe.TypeA {
		t.Errorf("%d sockets: %+v", sockets, r.Attempts)
	}
}

func TestCallersRefuseWhatWouldBeAGuess(t *testing.T) {
	e := model(t, twoDomains, simnet.World{})
	for _, ask := range []probe.Ask{
		{Host: "203.0.113.7", Caller: "getent"}, {Host: "bücher.example", Caller: "python"}, {Host: "x", Caller: "perl"},
	} {
		if _, err := e.Resolve(t.Context(), "r", ask, func(probe.Event) {}); err == nil {
			t.Errorf("%q through %s is no error", ask.Host, ask.Caller)
		}
	}
}

func TestCallersOfALibcNeedOne(t *testing.T) {
	e := model(t, twoDomains, simnet.World{})
	glibc := e.Resolver
	for _, c := range []struct {
		in   probe.Resolver
		libc probe.Libc
		note bool
	}{
		{probe.Resolver{Libc: probe.Musl, Version: "1.2.5"}, probe.Musl, false},
		{probe.Resolver{Libc: probe.Go, Version: "1.26", Cgo: &probe.CgoProgram{GoVersion: "1.26", Libc: glibc}}, probe.Glibc, false},
		{probe.Resolver{Libc: probe.Go, Version: "1.26"}, probe.Glibc, true},
	} {
		e.Resolver = c.in
		r := resolve(t, e, probe.Ask{Host: "x", Caller: "jvm"})
		if r.Libc != c.libc || slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "none was found") }) != c.note {
			t.Errorf("%s: through %s, %q", c.in.Libc, r.Libc, r.Notes)
		}
	}
}

func TestEveryCallerIsCarriedOut(t *testing.T) {
	for _, c := range caller.All() {
		r := resolve(t, model(t, podConf, simnet.World{}), probe.Ask{Host: "api.stripe.com", Caller: c.Word})
		if r.Outcome != probe.OK {
			t.Errorf("%s: %s", c.Word, r.Outcome)
		}
	}
}

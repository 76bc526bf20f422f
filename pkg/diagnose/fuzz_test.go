package diagnose

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// stream is a run as a saved file has it.
func stream(t interface{ Fatal(...any) }, settings probe.Settings, traces ...trace) []byte {
	var out bytes.Buffer
	enc := probe.NewEncoder(&out)
	events := []probe.Event{{Kind: probe.KindSettings, Settings: &settings}}
	for _, tr := range traces {
		events = append(events, tr.events()...)
	}
	for _, ev := range events {
		if err := enc.Encode(ev); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// FuzzDiagnose takes saved runs, which come from anywhere: no run may bring a rule down, and nothing in a finding may drive a
// terminal.
func FuzzDiagnose(f *testing.F) {
	node := probe.Settings{Search: []string{"node.example.com"}, Ndots: 1, Nameservers: []string{"198.19.0.10", "198.19.0.11"}}
	f.Add(stream(f, kubernetes(5), classic()))
	f.Add(stream(f, kubernetes(5), nowhere(), classic()))
	f.Add(stream(f, kubernetes(5), silentDomain("1"), silentDomain("2"), silentDomain("3")))
	f.Add(stream(f, node, deadFirst("1"), deadFirst("2"), deadFirst("3")))
	f.Add(stream(f, kubernetes(1), cut()))
	f.Add(stream(f, kubernetes(2), asked("1", "a.example", true), asked("2", "a.example", false), asked("3", "a.example", true)))
	f.Add(stream(f, node, stub("127.0.0.53:53", probe.ReplyICMPRefused)))
	f.Add([]byte(`{"event":"begin","resolution":"x","begin":{"host":".","variant":"now"}}` + "\n" + `{"event":"ended","resolution":"x","ended":{"outcome":"ok"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dec := probe.NewDecoder(bytes.NewReader(data))
		var fold probe.Fold
		for range 2000 {
			ev, err := dec.Decode()
			if errors.Is(err, io.EOF) || err != nil {
				break
			}
			fold.Add(ev)
		}
		run := fold.Run()
		run.Target.Pod = "p"
		run.Facts = map[string]probe.Fact{"dnsPolicy": {Value: "ClusterFirst"}, "hostNetwork": {Value: "true"}}
		run.Patch = &probe.Patch{Kind: "Deployment", Name: "x\x1b", Variant: "ndots:2", Effect: "\x1b"}
		for _, finding := range Diagnose(Input{Run: run}) {
			checkSafe(t, finding)
		}
	})
}

func checkSafe(t *testing.T, f probe.Finding) {
	t.Helper()
	texts := []string{f.Title, f.Explain}
	for _, e := range f.Evidence {
		texts = append(texts, e.Text)
	}
	for _, r := range f.Remedies {
		texts = append(texts, r.Text, r.Gain, r.Caveat)
	}
	for _, text := range texts {
		if i := strings.IndexFunc(text, func(r rune) bool { return !printable.Safe(r) }); i >= 0 {
			t.Errorf("%s holds what no terminal should see: %.300q", f.Class, text)
		}
		if len(text) > 8192 {
			t.Errorf("%s has a text of %d bytes", f.Class, len(text))
		}
	}
}

// TestFindingsOfASavedRunAreThoseOfTheRun: a run that is read again, by this version or another, gets the same verdict.
func TestFindingsOfASavedRunAreThoseOfTheRun(t *testing.T) {
	for name, in := range map[string]Input{
		"classic":  input(kubernetes(5), classic()),
		"no name":  input(kubernetes(5), nowhere()),
		"silent":   input(kubernetes(5), silentDomain("1"), silentDomain("2"), silentDomain("3")),
		"dead":     input(kubernetes(1), deadFirst("1"), deadFirst("2"), deadFirst("3")),
		"wildcard": wildcard(&trace{id: "test", host: "dnsprobe-abc.ec2.internal.", outcome: probe.OK, addresses: []string{"203.0.113.80"}}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(in.Run)
			if err != nil {
				t.Fatal(err)
			}
			again := Input{Hosts: in.Hosts}
			if err := json.Unmarshal(text, &again.Run); err != nil {
				t.Fatal(err)
			}
			first, second := Diagnose(in), Diagnose(again)
			if told(first) != told(second) || len(first) == 0 {
				t.Errorf("first\n%s\nread again\n%s", told(first), told(second))
			}
		})
	}
}

// TestCausesComeFirst puts two faults into one run: the one that explains the other has to be named first.
func TestCausesComeFirst(t *testing.T) {
	refused := pair("api.stripe.com.ec2.internal.", 3, probe.Refused, rcode("REFUSED", ms), rcode("REFUSED", ms))
	walkRefused := classic()
	walkRefused.tries[3] = refused
	deadWalk := func(id string) trace {
		tr := classic()
		tr.id = id
		for i := range tr.tries {
			a := &tr.tries[i]
			a.a = []message{lost(), by(dns1, a.a[0])}
			a.aaaa = []message{lost(), by(dns1, a.aaaa[0])}
		}
		return tr
	}
	both := classic()
	both.tries[4] = pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), nx(ms))
	db := trace{host: "db", outcome: probe.OK, decidedBy: -1, by: "hosts", addresses: []string{"10.0.0.9"}}
	tests := map[string]struct {
		in   Input
		want string
	}{
		"a dead server makes the walk slow":              {input(kubernetes(5), deadWalk("1")), "dead-nameserver search-walk"},
		"a refusal explains more than the walk":          {input(kubernetes(5), walkRefused), "refused-in-search search-walk"},
		"a silent domain explains more than the walk":    {input(kubernetes(5), silentDomain("1"), silentDomain("2"), silentDomain("3")), "timeout-in-search search-walk"},
		"a missing name before another host's walk":      {input(kubernetes(5), classic(), nowhere()), "no-such-name search-walk"},
		"halves that contradict each other, and a walk":  {input(kubernetes(5), both), "search-walk aaaa-nxdomain"},
		"a host that DNS has no say in, beside the walk": {input(kubernetes(5), db, classic()), "search-walk hosts-file healthy"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := classes(Diagnose(tt.in)); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// TestOnlyTheSettingsAsTheyAreAreJudged: what a variant does is no fault of the pod.
func TestOnlyTheSettingsAsTheyAreAreJudged(t *testing.T) {
	variant := nowhere()
	variant.host, variant.variant = "api.stripe.com", "ndots:1"
	direct := trace{host: "api.stripe.com", outcome: probe.OK, tries: []try{pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms))}}
	walk := classic()
	walk.variant = "ndots:5"
	for name, other := range map[string]trace{"a variant that fails": variant, "a variant that walks": walk} {
		t.Run(name, func(t *testing.T) {
			if got := classes(Diagnose(input(kubernetes(2), direct, other))); got != "healthy" {
				t.Errorf("found %q", got)
			}
		})
	}
	// As evidence about a server a variant counts all the same.
	third := deadFirst("3")
	third.variant = "use-vc"
	if got := classes(Diagnose(input(kubernetes(1), deadFirst("1"), deadFirst("2"), third))); got != "dead-nameserver" {
		t.Errorf("found %q", got)
	}
}

// TestSeverities: what the host survives is no emergency.
func TestSeverities(t *testing.T) {
	failing := silentDomain("x")
	failing.outcome, failing.tries = probe.Again, failing.tries[:2]
	failing.tries = slices.Clone(failing.tries)
	for name, tt := range map[string]struct {
		in   Input
		want probe.Severity
	}{
		"walk":                  {input(kubernetes(5), classic()), probe.Warning},
		"silence, survived":     {input(kubernetes(5), silentDomain("1"), silentDomain("2"), silentDomain("3")), probe.Warning},
		"a missing name":        {input(kubernetes(5), nowhere()), probe.Critical},
		"a dead server, second": {input(kubernetes(1), deadFirst("1"), deadFirst("2"), deadFirst("3")), probe.Warning},
		"silence, not survived": {input(kubernetes(5), failing, silentDomain("1"), silentDomain("2")), probe.Critical},
	} {
		t.Run(name, func(t *testing.T) {
			findings := Diagnose(tt.in)
			if len(findings) == 0 || findings[0].Severity != tt.want {
				t.Errorf("want %s first:\n%s", tt.want, told(findings))
			}
		})
	}
}

// TestGainsPreferWhatWasMeasured: the figures of a remedy come from one source each.
func TestGainsPreferWhatWasMeasured(t *testing.T) {
	row := func(variant string, source string, queries int, took probe.Millis) probe.WhatIf {
		return probe.WhatIf{Host: "api.stripe.com", Variant: variant, Outcome: probe.OK, QueriesSent: queries, SameAnswer: true, Source: source, Duration: took}
	}
	m := probe.Millis(ms)
	tests := map[string]struct {
		rows []probe.WhatIf
		want string
	}{
		"predicted only":                   {[]probe.WhatIf{row("ndots:2", "predicted", 2, 4*m)}, "10 → 2 queries, 47.2 ms → 4.0 ms (predicted)"},
		"measured after predicted":         {[]probe.WhatIf{row("ndots:2", "predicted", 2, 4*m), row("ndots:2", "measured", 2, 6*m)}, "10 → 2 queries, 47.2 ms → 6.0 ms (measured)"},
		"measured before predicted":        {[]probe.WhatIf{row("ndots:2", "measured", 2, 6*m), row("ndots:2", "predicted", 2, 4*m)}, "10 → 2 queries, 47.2 ms → 6.0 ms (measured)"},
		"with now, measured in turn":       {[]probe.WhatIf{row("now", "measured", 10, 30*m), row("ndots:2", "measured", 2, 6*m)}, "10 → 2 queries, 30.0 ms → 6.0 ms (measured)"},
		"with now from the other source":   {[]probe.WhatIf{row("now", "measured", 10, 30*m), row("ndots:2", "predicted", 2, 4*m)}, "10 → 2 queries, 47.2 ms → 4.0 ms (predicted)"},
		"another variant is not looked at": {[]probe.WhatIf{row("ndots:1", "measured", 2, m), row("ndots:2", "measured", 2, 6*m)}, "10 → 2 queries, 47.2 ms → 6.0 ms (measured)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(kubernetes(5), classic())
			in.Run.WhatIf = tt.rows
			in.Run.Patch = &probe.Patch{Kind: "Deployment", Name: "payments", Variant: "ndots:2"}
			if got := Diagnose(in)[0].Remedies[0].Gain; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestHostsAreComparedAsNames: final dots and case are no other host.
func TestHostsAreComparedAsNames(t *testing.T) {
	for _, tt := range []struct {
		host, name string
		origin     probe.Origin
		want       bool
	}{
		{"api.stripe.com", "api.stripe.com.", probe.OriginAsIs, true},
		{"api.stripe.com", "api.stripe.com.", probe.OriginSearch, true},
		{"api.stripe.com.", "api.stripe.com.", probe.OriginSearch, true},
		{"api.stripe.com", "api.stripe.com.cluster.local.", probe.OriginSearch, false},
		{"alias", "what.it.stands.for.", probe.OriginAsIs, true},
		{"", ".", probe.OriginSearch, true},
	} {
		if got := isHost(&probe.Attempt{Name: tt.name, Origin: tt.origin}, &probe.Resolution{Host: tt.host}); got != tt.want {
			t.Errorf("%q as %q (%s): %v", tt.host, tt.name, tt.origin, got)
		}
	}
}

func TestWhatCountsAsAnAnswer(t *testing.T) {
	of := func(tr try) *probe.Attempt {
		in := input(kubernetes(5), trace{host: "x", outcome: probe.Again, decidedBy: -1, tries: []try{tr}})
		return &in.Run.Resolutions[0].Attempts[0]
	}
	tests := map[string]struct {
		try                         try
		negative, answered, allFail bool
		silence                     int
	}{
		"both denied":            {denied("x.", -1, ms), true, true, false, 0},
		"both empty":             {pair("x.", -1, probe.NoData, empty(ms), empty(ms)), true, true, false, 0},
		"found":                  {pair("x.", -1, probe.OK, found(ms, "192.0.2.1"), empty(ms)), false, true, false, 0},
		"both SERVFAIL":          {pair("x.", -1, probe.ServFail, rcode("SERVFAIL", ms), rcode("SERVFAIL", ms)), false, true, true, 0},
		"one SERVFAIL":           {pair("x.", -1, probe.NXDomain, rcode("SERVFAIL", ms), nx(ms)), true, true, false, 0},
		"both lost":              {try{name: "x.", search: -1, outcome: probe.Timeout, a: []message{lost(), lost()}, aaaa: []message{lost()}}, false, false, false, 3},
		"one lost":               {try{name: "x.", search: -1, outcome: probe.NXDomain, a: []message{nx(ms)}, aaaa: []message{lost()}}, false, false, false, 0},
		"refused":                {try{name: "x.", search: -1, outcome: probe.Unreachable, a: []message{rcode(probe.ReplyICMPRefused, ms)}}, false, false, false, 0},
		"abandoned":              {try{name: "x.", search: -1, outcome: probe.Again, a: []message{rcode(probe.ReplyAbandoned, ms)}}, false, false, false, 0},
		"nothing sent":           {try{name: "x.", search: -1, outcome: probe.Unsent}, false, false, false, 0},
		"answered the 2nd time":  {try{name: "x.", search: -1, outcome: probe.NXDomain, a: []message{lost(), nx(ms)}, aaaa: []message{nx(ms)}}, true, true, false, 0},
		"SERVFAIL the 2nd time":  {try{name: "x.", search: -1, outcome: probe.ServFail, a: []message{lost(), rcode("SERVFAIL", ms)}}, false, true, false, 0},
		"outcome without a pair": {try{name: "x.", search: -1, outcome: probe.NXDomain}, false, false, false, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := of(tt.try)
			if negative(a) != tt.negative || answered(a) != tt.answered || allReplies(a, "SERVFAIL") != tt.allFail || silence(a) != tt.silence {
				t.Errorf("negative %v, answered %v, all SERVFAIL %v, silence %d", negative(a), answered(a), allReplies(a, "SERVFAIL"), silence(a))
			}
		})
	}
}

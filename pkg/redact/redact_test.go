package redact

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view/viewtest"
)

// redacted is a stream after redaction, as text.
func redacted(t *testing.T, events []probe.Event) string {
	t.Helper()
	r := New()
	var b strings.Builder
	enc := probe.NewEncoder(&b)
	for _, ev := range events {
		out, ok := r.Event(ev)
		if !ok {
			continue
		}
		if err := enc.Encode(out); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestNoNameAndNoAddressIsLeft(t *testing.T) {
	for name, s := range viewtest.Runs() {
		secrets := secretsOf(t, s.Events)
		text := redacted(t, s.Events)
		for secret := range secrets {
			if strings.Contains(text, secret) {
				i := strings.Index(text, secret)
				t.Errorf("%s: %q is left: %s", name, secret, text[max(0, i-60):min(len(text), i+60)])
			}
		}
	}
}

// secretsOf collects what must not be left: addresses and labels of names in the fields that hold them.
func secretsOf(t *testing.T, events []probe.Event) map[string]bool {
	t.Helper()
	secrets := map[string]bool{}
	add := func(names ...string) {
		for _, n := range names {
			for _, l := range strings.FieldsFunc(n, func(c rune) bool { return strings.ContainsRune(". :/", c) }) {
				// Short labels occur in words; that they are replaced is seen by the longer ones.
				if len(l) > 4 && isLabel(l) && !common[strings.ToLower(l)] && !kept[l] && !named[l] {
					secrets[l] = true
				}
			}
			if a, err := netip.ParseAddr(n); err == nil && !a.IsLoopback() && !strings.HasPrefix(n, "198.18.") {
				secrets[n] = true
			}
		}
	}
	for _, ev := range events {
		switch {
		case ev.Begin != nil:
			add(ev.Begin.Host)
		case ev.Attempt != nil:
			add(ev.Attempt.Name)
		case ev.Settings != nil:
			add(ev.Settings.Search...)
			add(ev.Settings.Nameservers...)
		case ev.Ended != nil:
			add(ev.Ended.Addresses...)
		case ev.Run != nil:
			add(ev.Run.Target.Pod, ev.Run.Target.Node)
		case ev.Received != nil:
			for _, a := range ev.Received.Answers {
				add(a.Name)
			}
		}
	}
	return secrets
}

func isLabel(l string) bool { return labelPattern.FindString(l) == l && !numeric.MatchString(l) }

func TestTheSameNameGetsTheSameStandIn(t *testing.T) {
	r := New()
	host, search := r.Name("api.stripe.com"), r.Name("API.stripe.com.shop.svc.cluster.local.")
	if host != "n1.n2.com" || search != "n1.n2.com.n3.svc.cluster.local." {
		t.Errorf("%q, %q", host, search)
	}
	if got, want := r.Text("api.stripe.com resolves, and shop is where stripe lives; see resolv.conf of 2.36-9, 47.2 ms"),
		"n1.n2.com resolves, and n3 is where n2 lives; see resolv.conf of 2.36-9, 47.2 ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := r.Text("ask https://k8s.corp.example:6443 about it"); strings.Contains(got, "corp") {
		t.Errorf("a name that was never seen before is left: %q", got)
	}
	if a, b := r.Name("10.1.2.3:53"), r.Text("from 10.1.2.3, not 10.1.2.4 or 127.0.0.1 or [fd00::1]:53"); a != "198.18.0.1:53" ||
		b != "from 198.18.0.1, not 198.18.0.2 or 127.0.0.1 or [2001:db8::1]:53" {
		t.Errorf("%q, %q", a, b)
	}
}

func TestDotsAndAnswersKeepTheirMeaning(t *testing.T) {
	run := probe.Fold{}
	r := New()
	for _, ev := range viewtest.Classic().Events {
		if out, ok := r.Event(ev); ok {
			run.Add(out)
		}
	}
	was, is := viewtest.Classic().Run(), run.Run()
	if strings.Count(was.Resolutions[0].Host, ".") != strings.Count(is.Resolutions[0].Host, ".") || len(was.Settings.Search) != len(is.Settings.Search) ||
		was.Settings.Ndots != is.Settings.Ndots || was.Resolutions[0].QueriesSent != is.Resolutions[0].QueriesSent || len(was.Findings) != len(is.Findings) {
		t.Errorf("was %+v, is %+v", was.Resolutions[0], is.Resolutions[0])
	}
	for i, a := range is.Resolutions[0].Attempts {
		if a.Outcome != was.Resolutions[0].Attempts[i].Outcome || !strings.HasPrefix(a.Name, is.Resolutions[0].Host) {
			t.Errorf("attempt %d: %+v", i, a)
		}
	}
}

func TestWhatIsNotKnownIsLeftOut(t *testing.T) {
	r := New()
	if _, ok := r.Event(probe.Event{Kind: "weather", Raw: []byte(`{"event":"weather","place":"secret"}`)}); ok {
		t.Error("an unknown event got through")
	}
	out, ok := r.Event(probe.Event{Kind: probe.KindNote, Note: "x", Raw: []byte(`{"event":"note","note":"x","place":"secret"}`)})
	if !ok || out.Raw != nil || out.Note != "x" || r.Dropped() != 2 || r.Note() == "" {
		t.Errorf("%+v, %v, %d", out, ok, r.Dropped())
	}
}

func TestFactsAndRecords(t *testing.T) {
	r := New()
	ev, _ := r.Event(probe.Event{Kind: probe.KindFacts, Facts: map[string]probe.Fact{
		"service ledger.billing": {Value: "ClusterIP 10.96.0.9 ready=2", Source: "service billing/ledger"},
		"dnsEndpoints":           {Value: "10.244.0.5 not-ready pod=coredns-abc node=worker-7 restarts=2"},
	}})
	text, err := json.Marshal(ev.Facts)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"ledger", "billing", "worker-7", "coredns-abc", "10.96.0.9", "10.244.0.5"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is left in %s", secret, text)
		}
	}
	if !strings.Contains(string(text), "not-ready") || !strings.Contains(string(text), "restarts=2") {
		t.Errorf("%s lost its meaning", text)
	}
	ev, _ = r.Event(probe.Event{Kind: probe.KindReceived, Received: &probe.Received{Answers: []probe.Answer{{Name: "a.", Type: "TXT", Data: "v=spf1 secret"}}}})
	if ev.Received.Answers[0].Data != "(redacted)" {
		t.Errorf("%+v", ev.Received.Answers)
	}
}

func FuzzEvent(f *testing.F) {
	f.Add("api.stripe.com", "10.0.0.1 says \x1b[31m no to api.stripe.com.")
	f.Add("::", "fe80::1%eth0:::1.2.3.4")
	f.Fuzz(func(t *testing.T, name, text string) {
		r := New()
		first, ok := r.Event(probe.Event{Kind: probe.KindBegin, Resolution: "r1", Begin: &probe.Begin{Host: name}})
		if !ok {
			t.Fatal("left out")
		}
		again, _ := r.Event(probe.Event{Kind: probe.KindBegin, Resolution: "r1", Begin: &probe.Begin{Host: name}})
		if first.Begin.Host != again.Begin.Host {
			t.Fatal(fmt.Sprint(first.Begin.Host, " then ", again.Begin.Host))
		}
		r.Event(probe.Event{Kind: probe.KindNote, Note: text})
	})
}

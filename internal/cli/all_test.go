package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// libcsOf returns what --libc all shows for the one host of a run, by libc.
func libcsOf(t *testing.T, run probe.Run) map[probe.Libc]probe.LibcResult {
	t.Helper()
	if len(run.Comparisons) != 1 {
		t.Fatalf("%d comparisons", len(run.Comparisons))
	}
	out := map[probe.Libc]probe.LibcResult{}
	for _, l := range run.Comparisons[0].Libcs {
		out[l.Libc] = l
		found := false
		for _, r := range run.Resolutions {
			if r.ID == l.Resolution {
				found = r.Libc == l.Libc && r.QueriesSent == l.QueriesSent && r.LibcVersion == l.LibcVersion && r.LibcVersion != ""
			}
		}
		if !found {
			t.Errorf("%s has no resolution of its own: %+v", l.Libc, l)
		}
	}
	return out
}

func TestExplainThroughEveryLibc(t *testing.T) {
	run := runOf(t, ExitOK, "", "explain", "payments.billing.svc", "--resolv-conf", "testdata/k8s-ndots2.conf", "--libc", "all")
	if r := run.Resolutions[0]; r.Libc != probe.Glibc || r.Purpose != probe.PurposeAsked {
		t.Errorf("the first resolution is %s by %s", r.Purpose, r.Libc)
	}
	libcs := libcsOf(t, run)
	for _, libc := range []probe.Libc{probe.Glibc, probe.Go, probe.CAres} {
		if l := libcs[libc]; l.Outcome != probe.OK || l.Attempts != 4 || l.QueriesSent != 8 || l.DecidedBy != 4 || !l.Same {
			t.Errorf("%s: %+v", libc, l)
		}
	}
	musl := libcs[probe.Musl]
	if musl.Outcome != probe.NXDomain || musl.Attempts != 1 || musl.QueriesSent != 2 || musl.PartsAt != 2 || musl.Same {
		t.Errorf("musl: %+v", musl)
	}
	const why = "musl never searches once the name has ndots dots (2 dots, ndots is 2)"
	if !strings.Contains(musl.Why, why) {
		t.Errorf("musl: %q does not say %q", musl.Why, why)
	}
	// Glibc's third suffix is where it is found.
	if a := run.Resolutions[0].Attempts[3]; a.SearchIndex != 2 || a.Outcome != probe.OK {
		t.Errorf("attempt 4: %+v", a)
	}
	_, text, _ := command(t, "", "explain", "payments.billing.svc", "--resolv-conf", "testdata/k8s-ndots2.conf", "--libc", "all", "-o", "text")
	if !strings.Contains(strings.Join(strings.Fields(text), " "), why) {
		t.Errorf("the report does not say why:\n%s", text)
	}
}

func TestALostAAAAThroughEveryLibc(t *testing.T) {
	began := time.Now()
	libcs := libcsOf(t, runOf(t, ExitOK, "", "explain", "api.stripe.com", "--scenario", "lost-aaaa", "--libc", "all", "--bare"))
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("32 s in virtual time took %s", took)
	}
	for libc, want := range map[probe.Libc]struct {
		outcome probe.Outcome
		seconds float64
		why     string
	}{
		probe.Glibc: {probe.OK, 15, ""},
		probe.Musl:  {probe.Again, 5, "musl needs both halves of the pair"},
		probe.Go:    {probe.OK, 10, "Go asks again for AAAA alone, waits out its timeout twice"},
		probe.CAres: {probe.OK, 2, "c-ares does not ask again for AAAA once it has the A answer"},
	} {
		l := libcs[libc]
		// One decimal is what is promised.
		if s := l.Duration.Duration().Seconds(); l.Outcome != want.outcome || s < want.seconds-0.05 || s > want.seconds+0.05 || !strings.Contains(l.Why, want.why) {
			t.Errorf("%s: %s after %.3f s, want %s after %.1f s: %s", libc, l.Outcome, s, want.outcome, want.seconds, l.Why)
		}
	}
}

func TestOlderLibcsByVersion(t *testing.T) {
	for libc, want := range map[string]struct {
		outcome probe.Outcome
		seconds float64
		code    int
	}{
		"musl-1.1.24": {probe.OK, 5, ExitOK}, "musl:1.2.3": {probe.Again, 5, ExitUnresolved}, "glibc-2.31": {probe.OK, 15, ExitOK},
		"go-1.26": {probe.OK, 10, ExitOK}, "cares-1.34": {probe.OK, 2, ExitOK}, "cares": {probe.OK, 2, ExitOK},
	} {
		run := runOf(t, want.code, "", "explain", "api.stripe.com", "--scenario", "lost-aaaa", "--libc", libc, "--bare")
		r := run.Resolutions[0]
		if s := r.Duration.Duration().Seconds(); r.Outcome != want.outcome || s < want.seconds-0.05 || s > want.seconds+0.05 || len(run.Comparisons) != 0 {
			t.Errorf("--libc %s: %s after %.3f s, %d comparisons", libc, r.Outcome, s, len(run.Comparisons))
		}
	}
}

func TestComparedLibcsGetTheSameServers(t *testing.T) {
	// The servers of this scenario lose one message, the first AAAA: each libc has to meet them as they were.
	libcs := libcsOf(t, runOf(t, ExitOK, "", "demo", "half-pair-loss", "--libc", "all", "--bare"))
	for libc, want := range map[probe.Libc]int{probe.Glibc: 4, probe.Musl: 3, probe.Go: 3, probe.CAres: 2} {
		if l := libcs[libc]; l.TransmissionsSent != want || l.Outcome != probe.OK {
			t.Errorf("%s sent %d messages, want %d: %+v", libc, l.TransmissionsSent, want, l)
		}
	}
}

func TestEveryHostIsCompared(t *testing.T) {
	run := runOf(t, ExitOK, podResolvConf, "explain", "a.test", "b.test", "--resolv-conf", "-", "--libc", "all", "--bare")
	if len(run.Comparisons) != 2 || run.Comparisons[0].Host != "a.test" || run.Comparisons[1].Host != "b.test" {
		t.Fatalf("%+v", run.Comparisons)
	}
	for _, c := range run.Comparisons {
		for _, l := range c.Libcs {
			if !l.Same || l.What != "" {
				t.Errorf("%s, %s: %+v", c.Host, l.Libc, l)
			}
		}
	}
}

func TestAComparisonCanBeReplayed(t *testing.T) {
	args := []string{"explain", "payments.billing.svc", "--resolv-conf", "testdata/k8s-ndots2.conf", "--libc", "all", "--bare"}
	code, out, errOut := command(t, "", append(args, "-o", "ndjson")...)
	if code != ExitOK {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	var fold probe.Fold
	dec := probe.NewDecoder(strings.NewReader(out))
	for {
		ev, err := dec.Decode()
		if err != nil {
			break
		}
		fold.Add(ev)
	}
	if musl := libcsOf(t, fold.Run())[probe.Musl]; musl.Attempts != 1 || musl.PartsAt != 2 {
		t.Errorf("read back: %+v", musl)
	}
}

func TestServicesExistInTheClusterUnlessSaidOtherwise(t *testing.T) {
	run := runOf(t, ExitOK, "nameserver 198.19.0.10\n", "explain", "payments.billing.svc", "--resolv-conf", "-", "--bare")
	if got := walkedNames(run.Resolutions[0]); got != "payments.billing.svc." {
		t.Errorf("without a cluster's search list: %s", got)
	}
	run = runOf(t, ExitUnresolved, podResolvConf, "explain", "payments.billing.svc", "--resolv-conf", "-", "--exists", "x=192.0.2.1", "--bare")
	if r := run.Resolutions[0]; r.Outcome != probe.NXDomain {
		t.Errorf("--exists names another: %+v", r)
	}
}

func TestEveryLibcInAPod(t *testing.T) {
	k, _ := fakeCluster(t)
	run, _, err := throughLibc(t, k, "all", "api.stripe.com")
	if err != nil {
		t.Fatal(err)
	}
	if r := run.Resolutions[0]; r.Libc != probe.Glibc || r.Purpose.OrAsked() != probe.PurposeAsked {
		t.Errorf("the first resolution: %+v", r)
	}
	compared := map[probe.Libc]bool{}
	for _, r := range run.Resolutions {
		if r.Purpose == probe.PurposeCompare {
			compared[r.Libc] = true
		}
	}
	if len(compared) != 3 || compared[probe.Glibc] || len(libcsOf(t, run)) != 4 {
		t.Errorf("the agent was asked for %v", compared)
	}
}

func TestComparedLibcsHaveTheVersionsThatAreKnown(t *testing.T) {
	a := asking{hosts: []string{"x"}, all: true}
	cgo := probe.Resolver{Libc: probe.Go, Version: "1.22", Cgo: &probe.CgoProgram{GoVersion: "1.22.5", Libc: probe.Resolver{Libc: probe.Musl, Version: "1.2.4", Build: "1.2.4-r2"}}}
	versions := map[probe.Libc]string{}
	for _, r := range a.compared(cgo) {
		versions[r.Libc] = r.Version
	}
	if versions[probe.Go] != "1.22.5" || versions[probe.Musl] != "1.2.4-r2" || versions[probe.Glibc] != "" {
		t.Errorf("%v", versions)
	}
	if (asking{}).compared(cgo) != nil {
		t.Error("libcs are compared that nobody asked for")
	}
}

func TestLocalSendsThePacketsOfEveryLibc(t *testing.T) {
	m, server := loopback(t, "nameserver 127.0.0.53\nsearch a.test b.test\noptions ndots:1\n")
	run, err := collect(t.Context(), m.source(asking{hosts: []string{"no.such"}, all: true, bare: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	for _, l := range libcsOf(t, run) {
		sent += l.TransmissionsSent
		if l.Outcome != probe.NXDomain || (l.Attempts == 1) != (l.Libc == probe.Musl) || l.Attempts > 3 {
			t.Errorf("%+v", l)
		}
	}
	if got := len(server.Journal()); got != sent || sent != 3*6+2 {
		t.Errorf("the server saw %d messages, the resolutions tell of %d", got, sent)
	}
	for _, r := range run.Resolutions {
		if r.Source != probe.Measured {
			t.Errorf("%s is %s", r.Libc, r.Source)
		}
	}
}

package pipeline_test

import (
	"context"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/cases"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/dnstest"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/pipeline"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/dnsnet"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// TestFollowUpsStayWithinTheirBudget counts, in every case, what leaves for the modelled servers because a verdict hangs on it: never
// more than the run says, and never more than its bound.
func TestFollowUpsStayWithinTheirBudget(t *testing.T) {
	most, asked := 0, 0
	for _, dir := range []string{"testdata/cases", "testdata/variations"} {
		files, err := cases.Files(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			c := cases.Check(t.Context(), file)
			if c.Err != nil {
				t.Fatal(c.Err)
			}
			stated, bound := 0, pipeline.DefaultFollowUps.Messages
			if f := c.Result.Run.FollowUps; f != nil {
				stated, asked = f.Sent, asked+1
				if f.MostSent != bound {
					t.Errorf("%s: the run states a bound of %d, want %d", c.Name, f.MostSent, bound)
				}
			}
			if n := c.Result.FollowUps; n > bound || n > stated {
				t.Errorf("%s: %d messages reached the servers, %d are stated, at most %d are allowed", c.Name, n, stated, bound)
			}
			most = max(most, c.Result.FollowUps)
		}
	}
	t.Logf("at most %d messages in one run; %d runs asked something", most, asked)
	if asked == 0 {
		t.Error("no run asked anything: nothing was tested")
	}
}

// TestFollowUpsOnRealSockets counts in the journals of real servers on loopback, with a budget of our own.
func TestFollowUpsOnRealSockets(t *testing.T) {
	for name, tt := range map[string]struct {
		file   string
		budget int
	}{
		"wildcard":                   {"testdata/cases/O03-glibc.yaml", 60},
		"wildcard, nearly no budget": {"testdata/cases/O03-glibc.yaml", 6},
		"wildcard behind a fault":    {"testdata/variations/wildcard-behind-servfail.yaml", 7},
	} {
		t.Run(name, func(t *testing.T) {
			s := onLoopback(t, tt.file)
			server, err := dnstest.Start(s.World, dnstest.Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Shut()
			var fold probe.Fold
			e := &engine.Engine{
				System:   func(context.Context) (resolver.System, error) { return s.System, nil },
				Resolver: probe.Resolver{Libc: s.Libc, Version: s.LibcVersion, Source: probe.SourceDetected},
				NewNetwork: func(ctx context.Context) (resolver.Network, error) {
					n, err := dnsnet.New(ctx, dnsnet.Options{Port: server.Port()})
					return &fenced{Network: n, t: t}, err
				},
				Source: probe.Measured,
			}
			p := &journaled{Prober: e.Prober("r", fold.Add), server: server}
			err = pipeline.Run(t.Context(), pipeline.In{
				Prober: p, Settings: engine.Settings(s.System, e.Resolver, "target"), Resolver: e.Resolver, Target: s.Target, Facts: s.Facts,
				Hosts: s.Hosts, Workload: cases.Workload(s), Count: s.Count, FollowUps: pipeline.FollowUpBudget{Messages: tt.budget},
			}, fold.Add)
			if err != nil {
				t.Fatal(err)
			}
			f := fold.Run().FollowUps
			if f == nil {
				t.Fatal("nothing was asked, so nothing was tested")
			}
			if p.followUps == 0 || p.followUps > f.Sent || f.Sent > tt.budget || f.MostSent != tt.budget {
				t.Errorf("%d messages arrived for %d questions, %d are stated, at most %d are allowed", p.followUps, f.Asked, f.Sent, tt.budget)
			}
		})
	}
}

// fenced keeps a test on this machine.
type fenced struct {
	*dnsnet.Network
	t *testing.T
}

func (f *fenced) Open(tr probe.Transport, to netip.AddrPort, o resolver.OpenOptions) (resolver.Socket, error) {
	if !to.Addr().IsLoopback() {
		f.t.Errorf("a message would leave this machine for %s", to)
		return 0, resolver.ErrRefused
	}
	return f.Network.Open(tr, to, o)
}

// journaled counts what arrives at a server while questions are asked that a verdict hangs on.
type journaled struct {
	*engine.Prober
	server    *dnstest.Server
	followUps int
}

func (j *journaled) Resolve(ctx context.Context, ask probe.Ask) (probe.Resolution, error) {
	before := len(j.server.Journal())
	res, err := j.Prober.Resolve(ctx, ask)
	if ask.MostMessages > 0 {
		// A server notes a message down before it answers, and the last of a resolution was answered or given up on.
		j.followUps += len(j.server.Journal()) - before
	}
	return res, err
}

// onLoopback reads a scenario with its servers moved to 127.0.0.0/8.
func onLoopback(t *testing.T, file string) scenario.Scenario {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	moved := string(text)
	for _, srv := range s.World.Servers {
		from := srv.Addr.String()
		_, rest, _ := strings.Cut(from, ".")
		moved = strings.ReplaceAll(moved, from, "127."+rest)
	}
	if s, err = scenario.Read([]byte(moved)); err != nil {
		t.Fatal(err)
	}
	return s
}

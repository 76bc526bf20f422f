//go:build linux

package conformance

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"net/netip"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
)

var flagGo = flag.String("go", "go", "the go command whose package net is the real one")

// goExcluded are the recorded scenarios that are not run with the real Go here, and why.
var goExcluded = map[string]string{
	"T13":  GoTurns,
	"T13t": GoTurns,
	"T05b": "the server counts queries of both types together, and which comes first is a race",
	"T16d": "it waits for 99 s",
}

// goBench is for Go without cgo, or with it and the glibc of this version.
func goBench(t *testing.T, libc string) *Bench {
	t.Helper()
	err := CannotRun()
	if err == nil {
		_, err = exec.LookPath(*flagGo)
	}
	endIfCannot(t, err)
	b, err := NewGoBench(t.Context(), t.TempDir(), room(), *flagGo, libc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestGo(t *testing.T) {
	t.Parallel()
	b := goBench(t, "")
	excluded := map[string]int{}
	compareGo(t, b, goFixedCases(t, b, excluded), excluded)
}

// TestGoWithCgo compares with a program that leaves some lookups to glibc: the packets tell which.
func TestGoWithCgo(t *testing.T) {
	t.Parallel()
	compareGo(t, goBench(t, bench(t).Version), nil, nil)
}

func compareGo(t *testing.T, b *Bench, fixed []*ran, excluded map[string]int) {
	t.Helper()
	c := comparison{name: "go", recorded: goRecordedDifferences, chances: 4, apart: true}
	c.run(t, b, fixed, randomCases(t, b.Library, *flagRandom)).print("go "+b.Version, excluded)
}

// goRecordedDifferences compares with the recording, whose program had texts for errors, and other orders of addresses.
func goRecordedDifferences(r *ran) []string {
	rec := *r.recorded
	rec.Packets = scenario.ByType(rec.Packets)
	rec.Results = slices.Clone(rec.Results)
	for i := range rec.Results {
		result := &rec.Results[i]
		if text, _, failed := strings.Cut(result.Text, " notfound="); failed || result.Code != 0 {
			result.Code, _ = goCode(text[strings.LastIndex(text, ": ")+2:]) // One that is not known is 0, and differs.
		}
		result.Addresses = slices.Clone(result.Addresses)
		slices.SortFunc(result.Addresses, netip.Addr.Compare)
	}
	return RecordedDifferences(r.c, rec, r.real, false)
}

// goFixedCases returns the recorded scenarios. Where the version here is the one that was recorded, the recordings come with
// them, to be compared with what the real Go does here.
func goFixedCases(t *testing.T, b *Bench, excluded map[string]int) []*ran {
	t.Helper()
	same := strings.HasPrefix(b.Version, "1.26.")
	return recordedCases(t, scenario.LibraryGo, excluded, func(o scenario.Observed, _ scenario.Recording, _ *Case) string {
		return goExcluded[o.Name]
	}, func(string) bool { return same })
}

// TestGoTexts: both sides number errors alike.
func TestGoTexts(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "testdata/lookup.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != "texts" {
			return true
		}
		for _, e := range spec.Values[0].(*ast.CompositeLit).Elts {
			text, err := strconv.Unquote(e.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
		return false
	})
	if !slices.Equal(texts, goTexts) {
		t.Errorf("the program has %q, ours are %q", texts, goTexts)
	}
}

// TestFloods: what counts is how many packets about one name go to one server.
func TestFloods(t *testing.T) {
	one, other := netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.3")
	packets := func(n int, servers ...netip.Addr) (out []scenario.Packet) {
		for i := range n {
			out = append(out, scenario.Packet{Server: servers[i%len(servers)], Name: "x."})
		}
		return out
	}
	for _, c := range []struct {
		packets []scenario.Packet
		want    bool
	}{{packets(maxOfName, one), false}, {packets(maxOfName+1, one), true}, {packets(2*maxOfName, one, other), false}} {
		if got := floods(c.packets); got != c.want {
			t.Errorf("%d packets: flood %t, want %t", len(c.packets), got, c.want)
		}
	}
}

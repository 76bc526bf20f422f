//go:build linux

package conformance

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/netip"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
)

var (
	flagGo       = flag.String("go", "go", "the go command whose package net is the real one")
	flagGoRandom = flag.Int("go-random", 200, "random cases with Go")
	flagCgo      = flag.Int("cgo-random", 100, "random cases with Go and cgo")
)

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
	b, err := NewGoBench(t.Context(), t.TempDir(), *flagParallel, *flagGo, libc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestGo(t *testing.T) {
	b := goBench(t, "")
	excluded := map[string]int{}
	compareGo(t, b, goFixedCases(t, b, excluded), excluded, *flagGoRandom)
}

// TestGoWithCgo compares with a program that leaves some lookups to glibc: the packets tell which.
func TestGoWithCgo(t *testing.T) {
	libc := bench(t).Version
	compareGo(t, goBench(t, libc), nil, map[string]int{}, *flagCgo)
}

func compareGo(t *testing.T, b *Bench, fixed []*ran, excluded map[string]int, want int) {
	t.Helper()
	random, left := randomCases(t, b.Library, want)
	for reason, n := range left {
		excluded[reason] += n
	}
	c := comparison{name: "Go", recorded: goRecordedDifferences, again: drawAgain}
	n := c.run(t, b, fixed, random)
	checkShared(t, n.all)
	fmt.Printf("conformance: go %s: fixed %d, random %d (seed %d), mismatches %d, measured twice %d, excluded %d%s, in %s\n",
		b.Version, len(fixed), len(random), *flagSeed, n.mismatches, n.again, total(excluded), reasons(excluded), n.took.Round(time.Second))
}

// drawAgain runs the cases once more that differ in nothing but which packets share a socket or an id: every exchange of Go has
// its own, and by chance the kernel or the dice give the same one twice. A resolver that shares them shares them again.
func drawAgain(t *testing.T, b *Bench, all []*ran) int {
	t.Helper()
	var shared []*ran
	for _, r := range all {
		if r.err != nil {
			continue
		}
		if diff := Differences(r.c, r.real, r.ours); len(diff) > 0 && !slices.ContainsFunc(diff, func(d Difference) bool { return !aboutClasses(d) }) {
			shared = append(shared, r)
		}
	}
	if len(shared) > maxLate {
		t.Errorf("%d cases differ in what shares a socket or an id", len(shared))
		return 0
	}
	runAll(t, b, shared)
	return len(shared)
}

func aboutClasses(d Difference) bool {
	return strings.HasPrefix(d.Text, "packet ") && (strings.Contains(d.Text, ": socket: ") || strings.Contains(d.Text, ": id: "))
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

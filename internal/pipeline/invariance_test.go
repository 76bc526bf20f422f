package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/cases"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// everyCase runs check on each scenario file of the folders that is not known to be open.
func everyCase(t *testing.T, check func(t *testing.T, text string)) {
	t.Helper()
	for _, dir := range []string{"testdata/cases", "testdata/variations"} {
		files, err := cases.Files(dir)
		if err != nil {
			t.Fatal(err)
		}
		open, err := cases.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			if _, isOpen := open[name]; isOpen {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(name, func(t *testing.T) { check(t, string(text)) })
		}
	}
}

// judge reads a scenario, changes it, and returns what of its expectations is not met.
func judge(t *testing.T, text string, dice uint64, change func(*scenario.Scenario)) []scenario.Statement {
	t.Helper()
	s, err := scenario.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&s)
	}
	r, err := cases.Run(t.Context(), s, dice)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(s.Expect.Judge(r.Run, r.Early), func(st scenario.Statement) bool { return st.Met })
}

// renamed are words of the cases and others of the same length: a search line keeps its length.
var renamed = strings.NewReplacer(
	"cluster.local", "fabric1.local", "corp.internal", "zone.interior", "example.net", "sample1.net", "example.org", "sample2.org", "example.com", "sample3.com",
	"corp.example", "firm.example", "ledger", "bucket", "billing", "finance", "partner", "fellows", "codehost", "programs", "inventory", "warehouse", "stock", "goods",
	"mail-api", "post-api", "tenants", "lodgers", "catalog", "listing", "objects", "buckets", "metrics-store", "numbers-store", "observability", "transparencies",
	"payments", "payrolls", "checkout", "purchase", "ring-hl", "loop-hl", "kube-dns", "kube-dns",
)

// address is an IPv4 address that stands for nothing by itself.
var address = regexp.MustCompile(`\b(10|172|100)\.(\d+)\.(\d+)\.(\d+)\b`)

// TestVerdictsDoNotHangOnNames runs every case with other names, another cluster domain and other addresses, in its expectations too.
func TestVerdictsDoNotHangOnNames(t *testing.T) {
	everyCase(t, func(t *testing.T, text string) {
		other := address.ReplaceAllStringFunc(renamed.Replace(text), func(a string) string {
			var b [4]int
			if _, err := fmt.Sscanf(a, "%d.%d.%d.%d", &b[0], &b[1], &b[2], &b[3]); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%d.%d.%d.%d", b[0], b[1]^1, b[2]^8, b[3]^2)
		})
		for _, st := range judge(t, other, 1, nil) {
			t.Error(st)
		}
	})
}

// TestVerdictsDoNotHangOnDice runs every case with other source ports, ids and losses.
func TestVerdictsDoNotHangOnDice(t *testing.T) {
	everyCase(t, func(t *testing.T, text string) {
		last := uint64(2)
		if strings.Contains(text, "port:") || strings.Contains(text, "loss:") {
			last = 6
		}
		for dice := uint64(2); dice <= last; dice++ {
			for _, st := range judge(t, text, dice, nil) {
				t.Errorf("dice %d: %s", dice, st)
			}
		}
	})
}

// ofThePath are classes that claim something about the way to the servers or about those servers.
var ofThePath = []string{
	"mesh-dns", "nodelocal-blocked", "no-endpoints", "egress-blocked", "egress-blocked-udp", "tcp53-blocked", "dead-nameserver", "dead-backend", "rollout-window",
	"conntrack-full", "overlay-udp", "half-pair-loss", "large-udp-lost", "truncated-no-tc", "edns-rejected", "aaaa-blackhole", "upstream-rate-limit",
	"nodelocal-upstream", "server-overload", "upstream-inconsistent", "wildcard-search", "namespace-shadow", "stub-loopback",
}

// alike are classes with the same symptom, which only a fact tells apart from the one that is found without it.
var alike = map[string]string{"dead-backend": "overlay-udp"}

// TestLessIsKnownLessIsSaid runs every case with all facts unknown: then no other fault of the path may be found than with them.
func TestLessIsKnownLessIsSaid(t *testing.T) {
	everyCase(t, func(t *testing.T, text string) {
		s, err := scenario.Read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		with, err := cases.Run(t.Context(), s, 1)
		if err != nil {
			t.Fatal(err)
		}
		for name := range s.Facts {
			s.Facts[name] = probe.Fact{Unknown: "you may not read it"}
		}
		without, err := cases.Run(t.Context(), s, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range without.Run.Findings {
			known := slices.ContainsFunc(with.Run.Findings, func(g probe.Finding) bool { return g.Class == f.Class || g.Class == alike[f.Class] })
			if !known && slices.Contains(ofThePath, f.Class) {
				t.Errorf("without facts there is %s: %s", f.Class, f.Title)
			}
		}
	})
}

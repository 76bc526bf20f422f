package scenario

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// judged is a run that found a walk and a healthy name, and proposes a patch.
func judged() probe.Run {
	return probe.Run{
		Findings: []probe.Finding{
			{
				Class: "search-walk", Title: "8 of 10 queries are wasted", Evidence: []probe.Evidence{{Text: "api.svc: NXDOMAIN"}},
				Remedies: []probe.Remedy{{Text: "Set ndots to 2.", Gain: "same answer for ledger", Caveat: "use-vc would not help"}},
			},
			{Class: "healthy"},
		},
		Problems: []string{"no time left"},
		Patch:    &probe.Patch{Variant: "ndots:2", YAML: "spec:\n  template:\n    spec:\n      dnsConfig:\n"},
	}
}

func TestExpect(t *testing.T) {
	for name, tt := range map[string]struct {
		expect string
		missed string
	}{
		"all met":          {`{class: search-walk, also: [healthy], says: ["8 OF 10", "ledger", "no time left", "nonsense | ndots"], patch: "ndots:2", never: [wildcard], neverAdvised: [use-vc]}`, ""},
		"class":            {`{class: healthy}`, `class "healthy", got "search-walk"`},
		"no finding":       {`{class: ""}`, `class "", got "search-walk"`},
		"also":             {`{class: search-walk, also: [mesh-dns]}`, `also "mesh-dns"`},
		"says":             {`{class: search-walk, says: [9 of 10]}`, `says "9 of 10"`},
		"patch":            {`{class: search-walk, patch: "ndots:3"}`, `patch "ndots:3", got ndots:2`},
		"patch unwanted":   {`{class: search-walk, patch: none}`, `patch "none", got ndots:2`},
		"patch lines":      {`{class: search-walk, patch: ["dnsConfig:", "dnsPolicy: None"]}`, `patch "dnsPolicy: None", got ndots:2`},
		"never a class":    {`{class: search-walk, never: [healthy]}`, `never "healthy", got "healthy: "`},
		"never a text":     {`{class: search-walk, never: ["use-vc would"]}`, `never "use-vc would", got "use-vc would not help"`},
		"never at first":   {`{class: search-walk, never: [too early]}`, `never "too early", got "Too early"`},
		"early":            {`{class: search-walk, never: [dead-nameserver]}`, `never "dead-nameserver", got "dead-nameserver: Too early"`},
		"like a class":     {`{class: search-walk, never: [use-vc]}`, ""},
		"advised":          {`{class: search-walk, neverAdvised: ["ndots to 2"]}`, `neverAdvised "ndots to 2", got "Set ndots to 2."`},
		"patch without":    {`{class: search-walk, patch: ["!dnsPolicy: None", "!template:"]}`, `patch "!template:", got ndots:2`},
		"one is enough":    {`{class: "mesh-dns | search-walk", patch: "none | dnsConfig:"}`, ""},
		"advised by patch": {`{class: search-walk, neverAdvised: ["ndots:2"]}`, `neverAdvised "ndots:2", got "ndots:2"`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Read([]byte("hosts: [x]\nexpect: " + tt.expect))
			if err != nil {
				t.Fatal(err)
			}
			var missed []string
			for _, st := range s.Expect.Judge(judged(), []probe.Finding{{Class: "dead-nameserver", Title: "Too early"}}) {
				if !st.Met {
					missed = append(missed, st.String())
				}
			}
			if got := strings.Join(missed, "; "); got != tt.missed {
				t.Errorf("missed %q, want %q", got, tt.missed)
			}
		})
	}
}

func TestExpectWithoutAPatch(t *testing.T) {
	run := judged()
	run.Patch = nil
	for want, met := range map[string]bool{NoPatch: true, "ndots:2": false, "!ndots": false, "timeout:1 | none": true} {
		e := Expect{Class: "search-walk", Patch: []string{want}}
		if got := e.Judge(run, nil)[1]; got.Met != met {
			t.Errorf("%v", got)
		}
	}
}

func TestExpectRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no class":      `{says: [x]}`,
		"empty entry":   `{class: x, says: [" "]}`,
		"patch":         `{class: x, patch: {a: b}}`,
		"unknown field": `{class: x, saying: [x]}`,
	} {
		if s, err := Read([]byte("hosts: [x]\nexpect: " + text)); err == nil {
			t.Errorf("%s: taken as %+v", name, s.Expect)
		}
	}
}

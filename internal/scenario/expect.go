package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// NoPatch is the expectation that no change of dnsConfig is proposed.
const NoPatch = "none"

// or stands between the texts of an entry of which one is enough.
const or = " | "

// Expect is what a run of the scenario has to say, and must not say.
type Expect struct {
	// Class is that of the first finding, empty for a run that must have none. Like the entries of Says and Patch it can be
	// several texts with " | " between them, of which one is enough.
	Class string
	// Also are classes of further findings that must be there.
	Also []string
	// Says are texts that findings, remedies or problems must contain.
	Says []string
	// Patch is nil where the patch is not judged; else each entry is NoPatch, the variant that was checked ("ndots:2"), a text that the
	// patch's YAML must contain, or one with "!" before it that it must not contain.
	Patch []string
	// Never are classes and texts that must not appear in findings and remedies. What is written like a class is compared with classes
	// only. The first screen must not have them either, but for "healthy": what one look shows can be as healthy as can be, and
	// taken back.
	Never []string
	// NeverAdvised are texts that neither the text of a remedy nor the variant of the patch may contain. Other than with Never, a finding may
	// speak of them, as in "use-vc would not help here".
	NeverAdvised []string
}

// fileExpect is Expect as people write it.
type fileExpect struct {
	Class        *string  `json:"class"`
	Also         []string `json:"also"`
	Says         []string `json:"says"`
	Patch        texts    `json:"patch"`
	Never        []string `json:"never"`
	NeverAdvised []string `json:"neverAdvised"`
}

// texts is one text or a list of them.
type texts []string

func (t *texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = texts{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(data, &many); err != nil {
		return fmt.Errorf("a text or a list of texts is needed, not %.20s", data)
	}
	*t = many
	return nil
}

func (f *fileExpect) expect() (*Expect, error) {
	switch {
	case f == nil:
		return nil, nil
	case f.Class == nil:
		return nil, errors.New(`expect names no class; the empty text "" means no finding at all`)
	}
	e := &Expect{Class: *f.Class, Also: f.Also, Says: f.Says, Patch: f.Patch, Never: f.Never, NeverAdvised: f.NeverAdvised}
	for _, list := range [][]string{e.Also, e.Says, e.Patch, e.Never, e.NeverAdvised} {
		if len(list) > MaxNames {
			return nil, fmt.Errorf("at most %d entries are allowed in a list of expect", MaxNames)
		}
		if slices.ContainsFunc(list, func(s string) bool { return strings.TrimSpace(s) == "" }) {
			return nil, errors.New("an entry of a list of expect is empty: every run would meet it")
		}
	}
	return e, nil
}

// Statement is one demand of an Expect, and whether a run met it.
type Statement struct {
	// Kind is the field of Expect: "class", "also", "says", "patch", "never", "neverAdvised".
	Kind string
	Want string
	Met  bool
	// Got is what was there instead, where that can be said.
	Got string
}

func (s Statement) String() string {
	text := s.Kind + " " + fmt.Sprintf("%q", s.Want)
	if !s.Met && s.Got != "" {
		text += ", got " + s.Got
	}
	return text
}

// Judge compares a run with what is expected of it. early are the findings of its first screen, which may be incomplete, but not
// wrong.
func (e *Expect) Judge(run probe.Run, early []probe.Finding) []Statement {
	var out []Statement
	first := ""
	if len(run.Findings) > 0 {
		first = run.Findings[0].Class
	}
	out = append(out, Statement{Kind: "class", Want: e.Class, Met: slices.Contains(strings.Split(e.Class, or), first), Got: fmt.Sprintf("%q", first)})
	for _, class := range e.Also {
		met := slices.ContainsFunc(run.Findings, func(f probe.Finding) bool { return f.Class == class })
		out = append(out, Statement{Kind: "also", Want: class, Met: met})
	}
	all := strings.Join(append(said(run.Findings), run.Problems...), "\n")
	for _, want := range e.Says {
		out = append(out, Statement{Kind: "says", Want: want, Met: Holds(all, want)})
	}
	if len(e.Patch) > 0 {
		out = append(out, e.judgePatch(run.Patch)...)
	}
	for _, bad := range e.Never {
		where := forbidden(run.Findings, bad)
		if where == "" && bad != healthy {
			where = forbidden(early, bad)
		}
		out = append(out, Statement{Kind: "never", Want: bad, Met: where == "", Got: where})
	}
	for _, bad := range e.NeverAdvised {
		where := holding(advice(run), bad)
		out = append(out, Statement{Kind: "neverAdvised", Want: bad, Met: where == "", Got: where})
	}
	return out
}

func (e *Expect) judgePatch(p *probe.Patch) []Statement {
	got := NoPatch
	if p != nil {
		got = p.Variant
	}
	var out []Statement
	for _, want := range e.Patch {
		met := slices.ContainsFunc(strings.Split(want, or), func(one string) bool { return isPatch(p, one) })
		out = append(out, Statement{Kind: "patch", Want: want, Met: met, Got: got})
	}
	return out
}

// isPatch says whether one text of Expect.Patch holds.
func isPatch(p *probe.Patch, want string) bool {
	without, isWithout := strings.CutPrefix(want, "!")
	switch {
	case want == NoPatch:
		return p == nil
	case p == nil:
		return false
	case isWithout:
		return !contains(p.YAML, without)
	}
	return want == p.Variant || contains(p.YAML, want)
}

// healthy is the class of a run in which nothing is wrong.
const healthy = "healthy"

// class is how classes of findings are written; other words without a hyphen are texts.
var class = regexp.MustCompile(`^(healthy|[a-z0-9]+(-[a-z0-9]+)+)$`)

// forbidden returns where findings have a class or a text, empty when they do not.
func forbidden(findings []probe.Finding, bad string) string {
	if !class.MatchString(bad) {
		return holding(said(findings), bad)
	}
	for _, f := range findings {
		if f.Class == bad {
			return fmt.Sprintf("%q", f.Class+": "+f.Title)
		}
	}
	return ""
}

// said are the texts of findings.
func said(findings []probe.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, f.Title, f.Explain)
		for _, e := range f.Evidence {
			out = append(out, e.Text)
		}
		for _, r := range f.Remedies {
			out = append(out, r.Text, r.Gain, r.Caveat)
		}
	}
	return out
}

// advice is what a run tells people to do.
func advice(run probe.Run) []string {
	var out []string
	for _, f := range run.Findings {
		for _, r := range f.Remedies {
			out = append(out, r.Text)
		}
	}
	if run.Patch != nil {
		out = append(out, run.Patch.Variant)
	}
	return out
}

// holding returns the first of texts that contains part, empty when none does.
func holding(texts []string, part string) string {
	for _, t := range texts {
		if contains(t, part) {
			return fmt.Sprintf("%q", t)
		}
	}
	return ""
}

// Holds says whether text contains what an entry of Says wants: one of the texts that " | " separates, without regard to case and
// white space.
func Holds(text, want string) bool {
	return slices.ContainsFunc(strings.Split(want, or), func(one string) bool { return contains(text, one) })
}

// contains compares without regard to case and to how white space falls.
func contains(text, part string) bool {
	plain := func(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }
	return strings.Contains(plain(text), plain(part))
}

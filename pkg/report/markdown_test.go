package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view/viewtest"
)

func markdown(t *testing.T, run probe.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Markdown(&b, run); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdownGolden(t *testing.T) {
	for name, s := range viewtest.Runs() {
		t.Run(name, func(t *testing.T) { golden(t, name+".md", markdown(t, s.Run())) })
	}
}

func TestClassicCaseFitsOneChatMessage(t *testing.T) {
	// Discord takes 2,000 characters, Slack 4,000.
	if n := len([]rune(markdown(t, viewtest.Classic().Run()))); n > 2000 {
		t.Errorf("%d characters", n)
	}
}

func TestMarkdownShowsHostileTextAndObeysNone(t *testing.T) {
	const hostile = "a`b ``` <script> [x](http://evil) @here |\n# title ![i](u) &amp; *b* _i_"
	run := viewtest.Classic().Run()
	run.Resolutions[0].Host = hostile
	run.Target.Pod, run.Findings[0].Title, run.Problems = hostile, hostile, []string{hostile}
	run.Patch.YAML = "```\n# title\n"
	got := markdown(t, run)
	for _, l := range strings.Split(got, "\n") {
		for _, bad := range []string{"<script", "](http", " @here", "![i]", "&amp;"} {
			outside := withoutCode(l)
			if i := strings.Index(outside, bad); i >= 0 && (i == 0 || outside[i-1] != '\\') && !strings.Contains(outside, `\`+strings.TrimSpace(bad)) {
				t.Errorf("%q stands in %q", bad, l)
			}
		}
		if strings.HasPrefix(l, "# ") && !strings.Contains(got, "```yaml\n'''\n# title") {
			t.Errorf("a title: %q", l)
		}
	}
	if n := strings.Count(got, "```"); n%2 != 0 {
		t.Errorf("%d fences", n)
	}
}

// withoutCode drops the code spans of a line.
func withoutCode(l string) string {
	var b strings.Builder
	for i, part := range strings.Split(strings.ReplaceAll(l, "\\`", ""), "`") {
		if i%2 == 0 {
			b.WriteString(part)
		}
	}
	return b.String()
}

func TestRepeat(t *testing.T) {
	run := probe.Run{
		Target:      probe.Target{Namespace: "shop", Pod: "payments-1", Container: "app", Via: "ephemeral"},
		Resolutions: []probe.Resolution{{Host: "api.stripe.com"}, {Host: "it's"}, {Host: "ledger", Purpose: probe.PurposeAlso}, {Host: "api.stripe.com"}},
	}
	if got, want := Repeat(&run), `kubectl dnsprobe -n shop pod/payments-1 -c app api.stripe.com 'it'\''s'`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	run.Target = probe.Target{Via: "model", Pod: "payments-1"}
	if got := Repeat(&run); got != "" {
		t.Errorf("%q for a modelled pod", got)
	}
	run.Target = probe.Target{Via: "local"}
	run.Resolutions = run.Resolutions[:1]
	if got, want := Repeat(&run), "kubectl dnsprobe local api.stripe.com"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

package report

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
)

// Bounds of a Markdown report, which is read in a chat: what is beyond them is counted and left out.
const (
	maxMarkdownRows     = 12
	maxMarkdownFindings = 5
	maxMarkdownName     = 120
	maxMarkdownText     = 600
)

// Markdown writes a run for an incident channel or a ticket: where and when, what came out, the attempts as a table, the findings with
// their best remedy, the patch in a code block, and the command that repeats the run. The classic case fits one chat message.
//
// Names and texts come from outside: none of them can open a code block, a link, a mention or an HTML tag.
func Markdown(w io.Writer, run probe.Run) error {
	var b bytes.Buffer
	f := view.Frame{Width: DefaultWidth, Glyphs: view.Unicode}
	shown := view.Shown(&run)
	fmt.Fprintf(&b, "### dnsprobe: %s\n\n", prose(view.Target(&run, f)))
	if libc := view.Resolver(&run); libc != "" {
		fmt.Fprintf(&b, "%s, %s", prose(libc), prose(view.ShownSettings(&run)))
		if len(shown) > 0 && !run.Resolutions[shown[0]].StartedAt.IsZero() {
			fmt.Fprintf(&b, ", %s", run.Resolutions[shown[0]].StartedAt.UTC().Format("2006-01-02 15:04:05 UTC"))
		}
		b.WriteString("\n\n")
	}
	for _, i := range shown {
		markdownResolution(&b, &run.Resolutions[i], f)
	}
	if len(shown) == 0 {
		b.WriteString("**No host was resolved.**\n\n")
	}
	markdownFindings(&b, run.Findings)
	if p := run.Patch; p != nil {
		fmt.Fprintf(&b, "**Patch** for %s, checked: %s\n\n```yaml\n%s```\n\n", prose(p.Kind+" "+p.Namespace+"/"+p.Name), prose(checkedNames(p)), fenced(view.YAML(p)))
		if c := view.Command(p); c != "" {
			fmt.Fprintf(&b, "```sh\n%s\n```\n\n", fenced(c))
		}
	}
	for _, p := range run.Problems {
		fmt.Fprintf(&b, "- could not be done: %s\n", prose(p))
	}
	if len(run.Problems) > 0 {
		b.WriteString("\n")
	}
	if c := Repeat(&run); c != "" {
		fmt.Fprintf(&b, "Again: %s\n", code(c, maxMarkdownText))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func markdownResolution(b *bytes.Buffer, r *probe.Resolution, f view.Frame) {
	fmt.Fprintf(b, "**%s** %s", code(r.Host, maxMarkdownName), prose(ended(r)))
	if r.QueriesSent > 0 {
		fmt.Fprintf(b, "; %d queries, %d of them wasted", r.QueriesSent, r.QueriesWasted)
	}
	b.WriteString("\n\n")
	if len(r.Attempts) == 0 {
		return
	}
	b.WriteString("| # | name tried | A | AAAA | time |\n|--:|---|---|---|--:|\n")
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if i == maxMarkdownRows {
			fmt.Fprintf(b, "| | and %d more | | | |\n", len(r.Attempts)-i)
			break
		}
		a4, a6, took := view.Cells(r, a, f)
		fmt.Fprintf(b, "| %d | %s | %s | %s | %s |\n", a.N, code(a.Name, maxMarkdownName), prose(a4), prose(a6), took)
	}
	b.WriteString("\n")
	for i := range r.Attempts {
		for _, l := range view.Losses(r, &r.Attempts[i]) {
			fmt.Fprintf(b, "- attempt %d: %s\n", r.Attempts[i].N, prose(l))
		}
		if i == maxMarkdownRows {
			break
		}
	}
}

// ended says how a resolution ended.
func ended(r *probe.Resolution) string {
	switch {
	case r.Outcome == "":
		return "not ended"
	case r.Outcome == probe.OK && len(r.Addresses) > 3:
		return fmt.Sprintf("resolved to %s and %d more after %s", strings.Join(r.Addresses[:3], ", "), len(r.Addresses)-3, view.Duration(r.Duration))
	case r.Outcome == probe.OK:
		return fmt.Sprintf("resolved to %s after %s", strings.Join(r.Addresses, ", "), view.Duration(r.Duration))
	}
	return fmt.Sprintf("did not resolve (%s) after %s", r.Outcome, view.Duration(r.Duration))
}

func markdownFindings(b *bytes.Buffer, findings []probe.Finding) {
	for i := range findings {
		d := &findings[i]
		if i == maxMarkdownFindings {
			fmt.Fprintf(b, "- and %d more findings\n", len(findings)-i)
			break
		}
		fmt.Fprintf(b, "- %s **%s**: %s\n", severitySign(d.Severity), prose(d.Class), prose(d.Title))
		if len(d.Remedies) > 0 && d.Severity != probe.Info {
			fmt.Fprintf(b, "  - %s\n", prose(d.Remedies[0].Text))
		}
	}
	if len(findings) > 0 {
		b.WriteString("\n")
	}
}

func severitySign(s probe.Severity) string {
	sign, _ := view.Unicode.Severity(s)
	return sign + " " + string(s)
}

// checkedNames says for each name in use what a patch does to it.
func checkedNames(p *probe.Patch) string {
	var parts []string
	for i, n := range p.Names {
		if i == maxMarkdownFindings {
			parts = append(parts, fmt.Sprintf("%d more", len(p.Names)-i))
			break
		}
		answer := "another answer"
		if n.Same {
			answer = "same answer"
		}
		parts = append(parts, fmt.Sprintf("%s %d → %d queries, %s", n.Name, n.Before.QueriesSent, n.After.QueriesSent, answer))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

// Repeat returns the command that repeats a run, "" where there is no pod to repeat it on.
func Repeat(run *probe.Run) string {
	words := []string{"kubectl", "dnsprobe"}
	switch t := run.Target; {
	case t.Via == "local":
		words = append(words, "local")
	case t.Pod == "" || t.Via == "model":
		return ""
	default:
		if t.Namespace != "" {
			words = append(words, "-n", t.Namespace)
		}
		words = append(words, "pod/"+t.Pod)
		if t.Container != "" {
			words = append(words, "-c", t.Container)
		}
	}
	seen := map[string]bool{}
	for _, i := range view.Shown(run) {
		if host := run.Resolutions[i].Host; !seen[host] {
			seen[host] = true
			words = append(words, host)
		}
	}
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=-]+$`)

// shellWord returns a word as a POSIX shell reads it back.
func shellWord(w string) string {
	if plainWord.MatchString(w) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// prose returns text as Markdown that shows it: what would mark up, mention or link is escaped.
func prose(text string) string {
	var b strings.Builder
	for _, r := range printable.Text(text, maxMarkdownText) {
		switch r {
		case '\\', '`', '*', '_', '[', ']', '<', '>', '|', '#', '~', '!', '&', '@':
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// code returns text as a code span that nothing in it can end.
func code(text string, limit int) string {
	text = strings.NewReplacer("`", "'", "|", "¦").Replace(printable.Text(text, limit))
	if text == "" {
		return "(empty)"
	}
	return "`" + text + "`"
}

// fenced returns text for a fenced block: a line of it cannot end the block.
func fenced(text string) string { return strings.ReplaceAll(text, "```", "'''") }

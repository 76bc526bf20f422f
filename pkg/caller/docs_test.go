package caller

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

var updateDocs = flag.Bool("update-docs", false, "write docs/callers.md anew")

const callersPage = "../../docs/callers.md"

const callersHead = `# Callers

Made from the data in pkg/caller; change it there. Programs call resolvers in different ways, and the tools that people test with
call none or call them in yet another way: a host that resolves in one can fail in the other. ` + "`--libc WORD`" + ` follows the way of a
caller; the trace says so in a note, and JSON has it in ` + "`resolver.caller`" + `.

Where a caller has no resolver of its own, that of the target's libc is followed, with its version. ` + "`--type`" + ` makes a caller ask for
one family only, ` + "`--addrconfig`" + ` adds AI_ADDRCONFIG.

*Observed*: the program was run and its packets were recorded. *Documented*: its source or manual says so, and no packets were
looked at.

`

// TestCallersPageIsCurrent makes docs/callers.md from the data, and fails when the file has something else.
func TestCallersPageIsCurrent(t *testing.T) {
	var page strings.Builder
	page.WriteString(callersHead + "| word | who | resolver | asks | search list |\n|---|---|---|---|---|\n")
	for _, c := range callers {
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s | %s |\n", c.Word, c.What, resolverOf(&c), asks(&c), yesNo(c.Search))
	}
	for _, c := range callers {
		fmt.Fprintf(&page, "\n## %s\n\n%s.\n\n", c.Word, c.What)
		for _, s := range c.Statements {
			fmt.Fprintf(&page, "- *%s* (%s): %s\n", s.Mark, s.Source, s.Text)
		}
		for _, m := range c.Missing {
			fmt.Fprintf(&page, "- not followed: %s\n", m)
		}
		for _, refused := range []string{c.RefuseLiterals, c.RefuseNonASCII} {
			if refused != "" {
				fmt.Fprintf(&page, "- an error: %s\n", refused)
			}
		}
	}
	want := page.String()
	if *updateDocs {
		if err := os.WriteFile(callersPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(callersPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/callers.md is not current; make it so: go generate ./pkg/caller")
	}
}

func resolverOf(c *Caller) string {
	switch {
	case c.Walk == WalkQuery:
		return "c-ares, below its search"
	case c.Walk != WalkLibc:
		return "its own"
	case c.Libc == "":
		return "the target's libc"
	case c.Libc == probe.CAres:
		return "c-ares"
	case c.Libc == probe.Go:
		return "Go's"
	}
	return string(c.Libc)
}

// asks tells the steps of a caller.
func asks(c *Caller) string {
	var list []string
	for _, s := range c.Steps {
		what := map[resolver.Family]string{resolver.Unspec: "A and AAAA", resolver.Inet: "A", resolver.Inet6: "AAAA"}[s.Family]
		if s.Record != "" {
			what = fmt.Sprintf("%s of `%sHOST`", s.Record, s.Prefix)
		}
		if s.When != Always {
			what += " " + string(s.When)
		}
		list = append(list, what)
	}
	text := strings.Join(list, ", then ")
	if c.AddrConfig {
		text += "; AI_ADDRCONFIG"
	}
	if c.CanonName {
		text += "; AI_CANONNAME"
	}
	if c.OnlyIPv4Without {
		text += "; A only in a pod without IPv6 addresses"
	}
	return text
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

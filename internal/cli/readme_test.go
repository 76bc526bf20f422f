package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

var updateReadme = flag.Bool("update", false, "write the generated parts of README.md anew")

const readme = "../../README.md"

// TestReadmeIsCurrent makes the parts of README.md that come from the code, and fails when the file has something else.
func TestReadmeIsCurrent(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	want := replacePart(t, string(text), "demo", demoPicture(t))
	want = replacePart(t, want, "flags", flagTable(t))
	if want == string(text) {
		return
	}
	if *updateReadme {
		if err := os.WriteFile(readme, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("README.md is not current; make it so: go generate ./internal/cli")
}

// demoPicture is what `demo -o text` prints.
func demoPicture(t *testing.T) string {
	t.Helper()
	var out, errOut bytes.Buffer
	if code := Main(t.Context(), []string{"kubectl-dnsprobe", "demo", "-o", "text"}, strings.NewReader(""), &out, &errOut); code != ExitOK {
		t.Fatalf("demo: exit %d\n%s", code, &errOut)
	}
	return "```\n" + out.String() + "```\n"
}

// flagTable lists the flags of a run that are not kubectl's own.
func flagTable(t *testing.T) string {
	t.Helper()
	theirs := pflag.NewFlagSet("kubectl", pflag.ContinueOnError)
	genericclioptions.NewConfigFlags(true).AddFlags(theirs)
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	var b bytes.Buffer
	fmt.Fprintln(&b, "| flag of a run | |\n|---|---|")
	newRoot(streams).Flags().VisitAll(func(f *pflag.Flag) {
		if theirs.Lookup(f.Name) != nil || f.Name == "help" || f.Name == "version" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		usage := f.Usage
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0s" && f.Name != "image" {
			usage += " (default " + strings.Trim(f.DefValue, "[]") + ")"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(usage, "|", "\\|"))
	})
	return b.String()
}

// replacePart returns text with what stands between the comments <!-- name --> and <!-- /name --> replaced.
func replacePart(t *testing.T, text, name, part string) string {
	t.Helper()
	before, rest, ok := strings.Cut(text, "<!-- "+name+" -->\n")
	_, after, closed := strings.Cut(rest, "<!-- /"+name+" -->\n")
	if !ok || !closed {
		t.Fatalf("README.md has no part %q", name)
	}
	return before + "<!-- " + name + " -->\n" + part + "<!-- /" + name + " -->\n" + after
}

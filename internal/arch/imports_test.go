package arch

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kubectl-dnsprobe/kubectl-dnsprobe/"

// pkg is what `go list -json` tells of a package.
type pkg struct {
	ImportPath   string
	Imports      []string
	Deps         []string
	TestImports  []string
	XTestImports []string
	Standard     bool
}

// list runs go list once for the whole tree, for Linux, where the agent lives.
func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Imports,Deps,TestImports,XTestImports,Standard"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var failure strings.Builder
	cmd.Stderr = &failure
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(out); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("list packages: %v\n%s", err, failure.String())
	}
	return pkgs
}

// mayImport says which rooms of this module a room may import. A room that is missing here fails the test: the picture in
// docs/architecture.md changes with the code.
var mayImport = map[string][]string{
	"pkg/resolvconf":      {},
	"pkg/printable":       {},
	"internal/version":    {},
	"pkg/probe":           {"pkg/resolvconf"},
	"pkg/resolver":        {"pkg/probe", "pkg/resolvconf"},
	"pkg/resolver/cares":  {"pkg/resolver", "pkg/probe", "pkg/resolvconf"},
	"pkg/resolver/glibc":  {"pkg/resolver", "pkg/probe", "pkg/resolvconf"},
	"pkg/resolver/golang": {"pkg/resolver", "pkg/probe", "pkg/resolvconf"},
	"pkg/resolver/musl":   {"pkg/resolver", "pkg/probe", "pkg/resolvconf"},
	"pkg/resolver/tool":   {"pkg/resolver", "pkg/probe", "pkg/resolvconf"},
	"pkg/caller":          {"pkg/resolver", "pkg/probe"},
	"pkg/dnsnet":          {"pkg/resolver", "pkg/probe"},
	"pkg/simnet":          {"pkg/resolver", "pkg/probe"},
	"pkg/engine":          {"pkg/caller", "pkg/resolver/tool", "pkg/resolver", "pkg/resolver/cares", "pkg/resolver/glibc", "pkg/resolver/golang", "pkg/resolver/musl", "pkg/probe", "pkg/resolvconf"},
	"pkg/target":          {"pkg/resolver", "pkg/resolver/golang", "pkg/probe", "pkg/resolvconf", "pkg/printable"},
	"pkg/session":         {"pkg/probe", "pkg/engine", "pkg/resolver", "internal/version"},
	"pkg/experiment":      {"pkg/engine", "pkg/printable", "pkg/probe", "pkg/resolvconf", "pkg/resolver", "pkg/simnet"},
	"pkg/fact":            {"pkg/probe"},
	"pkg/redact":          {"pkg/probe"},
	"pkg/diagnose":        {"pkg/fact", "pkg/probe", "pkg/resolvconf", "pkg/printable"},
	"pkg/compare":         {"pkg/probe", "pkg/resolvconf", "pkg/printable"},
	"pkg/patch":           {"pkg/diagnose", "pkg/fact", "pkg/experiment", "pkg/printable", "pkg/probe", "pkg/resolvconf"},
	"pkg/view":            {"pkg/probe", "pkg/printable"},
	"pkg/view/viewtest":   {"pkg/probe", "pkg/resolvconf"},
	"pkg/report":          {"pkg/view", "pkg/patch", "pkg/diagnose", "pkg/probe", "pkg/resolvconf", "pkg/printable"},
	"pkg/tui":             {"pkg/view", "pkg/tui/quiet", "pkg/report", "pkg/patch", "pkg/diagnose", "pkg/probe", "pkg/resolvconf", "pkg/printable"},
	"pkg/tui/quiet":       {},
	"pkg/cluster":         {"pkg/fact", "pkg/probe", "pkg/patch", "pkg/printable"},
	"pkg/ephemeral":       {"pkg/probe", "pkg/session", "internal/version", "pkg/cluster"},
}

func TestRoomsImportOnlyWhatTheTableAllows(t *testing.T) {
	for _, p := range list(t, "./...") {
		room := strings.TrimPrefix(p.ImportPath, module)
		// cmd, internal/cli and the like wire things together and may import any room.
		if !strings.HasPrefix(room, "pkg/") && room != "internal/version" {
			continue
		}
		allowed, known := mayImport[room]
		if !known {
			t.Errorf("%s is not in the table of rooms: add it, and to docs/architecture.md", room)
			continue
		}
		for _, imp := range p.Imports {
			if in, ours := strings.CutPrefix(imp, module); ours && !slices.Contains(allowed, in) {
				t.Errorf("%s imports %s, which the table of rooms does not allow", room, in)
			}
		}
	}
}

// confined says which rooms may import a library, tests apart.
var confined = map[string][]string{
	"github.com/miekg/dns":                   {"pkg/dnsnet", "internal/dnstest"},
	"github.com/charmbracelet/bubble":        {"pkg/tui"},
	"github.com/charmbracelet/lipgloss":      {"pkg/tui"},
	"github.com/charmbracelet/x/ansi":        {"pkg/tui", "pkg/view"},
	"github.com/muesli/termenv":              {"pkg/tui"},
	"k8s.io/client-go":                       {"pkg/ephemeral", "pkg/cluster", "internal/cli", "internal/cases/entry"},
	"k8s.io/api":                             {"pkg/ephemeral", "pkg/cluster", "internal/cli", "internal/cases/entry"},
	"k8s.io/apimachinery":                    {"pkg/ephemeral", "pkg/cluster", "internal/cli", "internal/cases/entry"},
	"k8s.io/cli-runtime":                     {"pkg/ephemeral", "pkg/cluster", "internal/cli"},
	"k8s.io/kubectl":                         {"pkg/ephemeral", "pkg/cluster"},
	"github.com/spf13/cobra":                 {"internal/cli", "cmd/kubectl-dnsprobe"},
	"github.com/google/go-containerregistry": {"internal/agentimage"},
}

func TestLibrariesStayInTheirRooms(t *testing.T) {
	for _, p := range list(t, "./...") {
		room := strings.TrimPrefix(p.ImportPath, module)
		if strings.HasPrefix(room, "test/") || strings.HasPrefix(room, "bench") {
			continue
		}
		for _, imp := range p.Imports {
			for lib, rooms := range confined {
				if !strings.HasPrefix(imp, lib) || slices.Contains(rooms, room) {
					continue
				}
				// The text width of charmbracelet's x/ansi draws nothing: reports measure with it too.
				if imp == "github.com/charmbracelet/x/ansi" && (room == "pkg/report" || room == "pkg/printable") {
					continue
				}
				t.Errorf("%s imports %s, which only %s may", room, imp, strings.Join(rooms, ", "))
			}
		}
	}
}

func TestAgentStaysSmall(t *testing.T) {
	forbidden := []string{"k8s.io/", "github.com/spf13/", "github.com/charmbracelet/", "sigs.k8s.io/", "net/http"}
	pkgs := list(t, "./cmd/dnsprobe-agent")
	if len(pkgs) != 1 || len(pkgs[0].Deps) < 20 {
		t.Fatalf("listed %d packages for the agent, with too few dependencies to be true", len(pkgs))
	}
	for _, dep := range pkgs[0].Deps {
		for _, f := range forbidden {
			if strings.HasPrefix(dep, f) {
				t.Errorf("the agent links %s, which it must not: it runs inside other people's pods", dep)
			}
		}
	}
}

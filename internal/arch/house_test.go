package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// source is one parsed Go file of the tree.
type source struct {
	path string // from the root, with slashes
	file *ast.File
	fset *token.FileSet
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	fset := token.NewFileSet()
	root := "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata") && path != root {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		all = append(all, source{filepath.ToSlash(rel), f, fset})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("read %d Go files: too few to be the whole tree", len(all))
	}
	return all
}

// maxFuncLines is the longest function that a reader holds in the head at once.
const maxFuncLines = 80

func TestNoFunctionIsTooLong(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			from, to := s.fset.Position(fn.Pos()).Line, s.fset.Position(fn.End()).Line
			n := to - from + 1
			if strings.HasSuffix(s.path, "_test.go") {
				n -= tableLines(s, fn)
			}
			if n > maxFuncLines {
				t.Errorf("%s:%d: %s has %d lines, at most %d are allowed", s.path, from, fn.Name.Name, n, maxFuncLines)
			}
		}
	}
}

// tableLines counts the lines of a test's tables: a long table is many short cases, not one long thought.
func tableLines(s source, fn *ast.FuncDecl) int {
	n := 0
	ast.Inspect(fn.Body, func(node ast.Node) bool {
		lit, ok := node.(*ast.CompositeLit)
		if ok {
			n += s.fset.Position(lit.End()).Line - s.fset.Position(lit.Pos()).Line
		}
		return !ok
	})
	return n
}

func TestNoPackageIsCalledUtil(t *testing.T) {
	for _, s := range sources(t) {
		switch s.file.Name.Name {
		case "util", "utils", "common", "helpers", "misc":
			t.Errorf("%s: package %s says nothing about what is in it", s.path, s.file.Name.Name)
		}
	}
}

// TestDecidingRoomsReadNoClock keeps rooms that decide apart from the world: what they say must depend on values only.
func TestDecidingRoomsReadNoClock(t *testing.T) {
	deciding := []string{"pkg/resolvconf/", "pkg/probe/", "pkg/resolver/", "pkg/diagnose/", "pkg/report/", "pkg/printable/"}
	forbidden := map[string][]string{
		"time": {"Now", "Sleep", "After", "NewTimer", "NewTicker", "Since"},
		"os":   {"Open", "ReadFile", "Getenv", "Exit", "Create", "Hostname"},
		"net":  {"Dial", "Listen", "LookupHost", "LookupIP"},
	}
	for _, s := range sources(t) {
		isDeciding := slices.ContainsFunc(deciding, func(room string) bool { return strings.HasPrefix(s.path, room) })
		if !isDeciding || strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		eachCall(s, func(at token.Position, pkg, name string) {
			if slices.Contains(forbidden[pkg], name) {
				t.Errorf("%s:%d: %s.%s in a room that decides: take the value as a parameter", s.path, at.Line, pkg, name)
			}
		})
	}
}

func TestOnlyMainEndsTheProcess(t *testing.T) {
	for _, s := range sources(t) {
		if s.file.Name.Name == "main" || strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		eachCall(s, func(at token.Position, pkg, name string) {
			if pkg == "os" && name == "Exit" || pkg == "log" && strings.HasPrefix(name, "Fatal") {
				t.Errorf("%s:%d: %s.%s outside main: return an error", s.path, at.Line, pkg, name)
			}
		})
	}
}

func TestTestsDoNotSleep(t *testing.T) {
	for _, s := range sources(t) {
		if !strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		eachCall(s, func(at token.Position, pkg, name string) {
			if pkg == "time" && name == "Sleep" {
				t.Errorf("%s:%d: time.Sleep in a test: wait for what the test waits for", s.path, at.Line)
			}
		})
	}
}

// eachCall visits every use of pkg.Name by the package's own name.
func eachCall(s source, visit func(at token.Position, pkg, name string)) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && id.Obj == nil {
			visit(s.fset.Position(sel.Pos()), id.Name, sel.Sel.Name)
		}
		return true
	})
}

// TestEveryCommandOfTheReadmeExists keeps the README true: the make targets that it names are in the Makefile.
func TestEveryCommandOfTheReadmeExists(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for line := range strings.Lines(string(makefile)) {
		if names, _, ok := strings.Cut(line, ":"); ok && !strings.ContainsAny(names, "\t#=.") {
			for name := range strings.FieldsSeq(names) {
				targets[name] = true
			}
		}
	}
	found := 0
	for _, word := range strings.Split(string(readme), "make ")[1:] {
		target := strings.FieldsFunc(word, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') })
		if len(target) == 0 || !strings.ContainsAny(word[len(target[0]):len(target[0])+1], "`\n ") {
			continue
		}
		if targets[target[0]] {
			found++
		} else if strings.HasPrefix(word[len(target[0]):], "`") {
			t.Errorf("README.md names `make %s`, which the Makefile does not have", target[0])
		}
	}
	if found == 0 {
		t.Error("README.md names no make target at all")
	}
}

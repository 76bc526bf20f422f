package diagnose

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update-docs", false, "write docs/findings.md anew")

const findingsPage = "../../docs/findings.md"

const findingsHead = `# Findings

Made from the rules in pkg/diagnose; change it there. The order is that of causes: a finding explains those below it, and the first
one of a run is the cause. A rule claims only what the trace or a fact proves. What a single run cannot tell apart gets no finding.

`

// TestFindingsPageIsCurrent makes docs/findings.md from the comments of the rules, and fails when the file has something else.
func TestFindingsPageIsCurrent(t *testing.T) {
	comments := ruleComments(t)
	var page strings.Builder
	page.WriteString(findingsHead)
	for _, r := range rules {
		text := comments[r.class]
		if text == "" {
			t.Errorf("the rule of class %s has no comment that says what it rests on", r.class)
		}
		fmt.Fprintf(&page, "## %s\n\n%s\n\n", r.class, text)
	}
	want := strings.TrimRight(page.String(), "\n") + "\n"
	if *updateDocs {
		if err := os.WriteFile(findingsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(findingsPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/findings.md is not current; make it so: go generate ./pkg/diagnose")
	}
}

// ruleComments returns the comment of each rule by its class, without the name it begins with.
func ruleComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range gen.Specs {
				if class, name := classOf(s); class != "" {
					comment := gen.Doc
					if own := s.(*ast.ValueSpec).Doc; own != nil {
						comment = own // one of a group
					}
					doc := strings.TrimSpace(strings.TrimPrefix(comment.Text(), name+":"))
					out[class] = strings.ToUpper(doc[:min(1, len(doc))]) + doc[min(1, len(doc)):]
				}
			}
		}
	}
	return out
}

// classOf returns the class and the name of a variable that is a rule.
func classOf(s ast.Spec) (class, name string) {
	v, ok := s.(*ast.ValueSpec)
	if !ok || len(v.Values) != 1 {
		return "", ""
	}
	lit, ok := v.Values[0].(*ast.CompositeLit)
	if !ok {
		return "", ""
	}
	if id, ok := lit.Type.(*ast.Ident); !ok || id.Name != "rule" {
		return "", ""
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := kv.Key.(*ast.Ident); !ok || key.Name != "class" {
			continue
		}
		if value, ok := kv.Value.(*ast.BasicLit); ok {
			class, _ = strconv.Unquote(value.Value)
		}
	}
	return class, v.Names[0].Name
}

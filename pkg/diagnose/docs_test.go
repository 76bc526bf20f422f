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

var updateDocs = flag.Bool("update-docs", false, "write docs/findings.md and docs/findings anew")

const (
	findingsIndex = "../../docs/findings.md"
	findingsPages = "../../docs/findings"
)

const findingsHead = `# Findings

Made from the rules in pkg/diagnose; change it there. The order is that of causes: a finding explains those below it, and the first
one of a run is the cause. A rule claims only what the trace or a fact proves. What a single run cannot tell apart gets no finding.

Each class has a page that says what it means, on what evidence it rests, what helps, and what is often advised wrongly.

`

// TestFindingsPagesAreCurrent makes docs/findings.md and a page for each class from the rules, and fails when the files have something
// else, when a class lacks a part of its page, or when there is a page of no class.
func TestFindingsPagesAreCurrent(t *testing.T) {
	comments := ruleComments(t)
	want := map[string]string{}
	var index strings.Builder
	index.WriteString(findingsHead)
	for _, r := range rules {
		text := comments[r.class]
		if text == "" {
			t.Errorf("the rule of class %s has no comment that says what it means", r.class)
		}
		fmt.Fprintf(&index, "- [%s](findings/%s.md): %s\n", r.class, r.class, firstSentence(text))
		want[filepath.Join(findingsPages, r.class+".md")] = pageOf(t, r, text)
	}
	want[findingsIndex] = index.String()
	if *updateDocs {
		writeFiles(t, want)
	}
	for path, text := range want {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if string(got) != text {
			t.Errorf("%s is not current; make it so: go generate ./pkg/diagnose", path)
		}
	}
	there, err := filepath.Glob(filepath.Join(findingsPages, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if _, wanted := want[path]; !wanted {
			t.Errorf("%s is the page of no class; make the pages anew: go generate ./pkg/diagnose", path)
		}
	}
}

// pageOf writes the page of a class.
func pageOf(t *testing.T, r rule, comment string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nMade from the rule in pkg/diagnose; change it there. [All findings](../findings.md)\n\n## What it means\n\n%s\n", r.class, comment)
	for _, part := range []struct{ title, text string }{
		{"What it rests on", r.page.needs}, {"What helps", r.page.remedies}, {"What is often advised, and wrong here", r.page.wrong},
	} {
		if part.text == "" {
			t.Errorf("the page of class %s does not say: %s", r.class, part.title)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", part.title, strings.TrimSpace(part.text))
	}
	return b.String()
}

// firstSentence is the beginning of a comment, on one line.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

// writeFiles writes the pages, and takes those away that belong to no class.
func writeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll(findingsPages); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(findingsPages, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
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

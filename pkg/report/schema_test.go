package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view/viewtest"
)

var updateSchemas = flag.Bool("update-schemas", false, "write the JSON Schemas in docs anew")

// schemas are the contracts that docs/schema publishes, by file.
var schemas = map[string]struct {
	title string
	of    any
}{
	"dnsprobe.v1.schema.json":       {"A run of kubectl-dnsprobe: the document of -o json", probe.Run{}},
	"dnsprobe.v1.event.schema.json": {"One line of the event stream of kubectl-dnsprobe: -o ndjson, --save", probe.Event{}},
	"dnsprobe.diff.v1.schema.json":  {"What changed between two runs: kubectl dnsprobe diff -o json", Difference{}},
}

// TestSchemasAreCurrent makes the published schemas from the types and their comments, and fails when the files have something else.
func TestSchemasAreCurrent(t *testing.T) {
	b := schemaBuilder{comments: fieldComments(t, "../probe", "../resolvconf", ".")}
	for file, s := range schemas {
		b.defs = map[string]any{}
		root := b.schema(reflect.TypeOf(s.of)).(map[string]any)
		doc := map[string]any{
			"$schema": "https://json-schema.org/draft/2020-12/schema", "title": s.title,
			"description": "Names are stable: later versions only add. Readers skip what they do not know.",
			"$ref":        root["$ref"], "$defs": b.defs,
		}
		want, err := json.MarshalIndent(doc, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		path := filepath.Join("../../docs/schema", file)
		if *updateSchemas {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not current (%v); make it so: go generate ./pkg/report", path, err)
		}
	}
}

// schemaBuilder makes JSON Schemas of Go types.
type schemaBuilder struct {
	defs     map[string]any
	comments map[string]string
}

func (b *schemaBuilder) schema(t reflect.Type) any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[probe.Millis]():
		return map[string]any{"type": "number", "description": "milliseconds"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{b.schema(t.Elem()), map[string]any{"type": "null"}}}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": b.schema(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": b.schema(t.Elem())}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Struct:
		if _, done := b.defs[t.Name()]; !done {
			b.defs[t.Name()] = nil // A type that holds itself ends here.
			b.defs[t.Name()] = b.object(t)
		}
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	}
	return map[string]any{"type": "integer"}
}

func (b *schemaBuilder) object(t reflect.Type) any {
	properties, required := map[string]any{}, []string{}
	b.fields(t, properties, &required)
	out := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	if text := b.comments[t.Name()]; text != "" {
		out["description"] = text
	}
	return out
}

func (b *schemaBuilder) fields(t reflect.Type, properties map[string]any, required *[]string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			b.fields(f.Type, properties, required)
			continue
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		s := b.schema(f.Type)
		if text := b.comments[t.Name()+"."+f.Name]; text != "" {
			s = map[string]any{"description": text, "allOf": []any{s}}
		}
		properties[name] = s
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}

// fieldComments returns the comments of types ("Run") and of their fields ("Run.Schema") in packages.
func fieldComments(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	text := func(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				decl, ok := n.(*ast.GenDecl)
				if !ok || decl.Tok != token.TYPE {
					return true
				}
				for _, s := range decl.Specs {
					spec := s.(*ast.TypeSpec)
					fields, isStruct := spec.Type.(*ast.StructType)
					if !isStruct {
						continue
					}
					out[spec.Name.Name] = text(decl.Doc)
					for _, field := range fields.Fields.List {
						for _, id := range field.Names {
							out[spec.Name.Name+"."+id.Name] = text(field.Doc)
						}
					}
				}
				return false
			})
		}
	}
	return out
}

// compiled returns a published schema, ready to validate.
func compiled(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join("../../docs/schema", file))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, what string, doc []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func TestEveryOutputFollowsItsSchema(t *testing.T) {
	document, event, difference := compiled(t, "dnsprobe.v1.schema.json"), compiled(t, "dnsprobe.v1.event.schema.json"), compiled(t, "dnsprobe.diff.v1.schema.json")
	for name, s := range viewtest.Runs() {
		var b bytes.Buffer
		if err := JSON(&b, s.Run()); err != nil {
			t.Fatal(err)
		}
		validate(t, document, name, b.Bytes())
		for _, ev := range s.Events {
			b.Reset()
			if err := probe.NewEncoder(&b).Encode(ev); err != nil {
				t.Fatal(err)
			}
			validate(t, event, name+" "+string(ev.Kind), b.Bytes())
		}
		d, err := json.Marshal(Compare(s.Run(), probe.Run{}))
		if err != nil {
			t.Fatal(err)
		}
		validate(t, difference, name, d)
	}
}

func TestSchemaRefusesWhatIsNoRun(t *testing.T) {
	document := compiled(t, "dnsprobe.v1.schema.json")
	for _, text := range []string{`{}`, `[]`, `{"schema":1}`} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if document.Validate(v) == nil {
			t.Errorf("%s passes for a run", text)
		}
	}
}

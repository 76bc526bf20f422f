package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view/viewtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	viewtest.Golden(t, *update, filepath.Join("testdata", name+".golden"), got)
}

func text(t *testing.T, run probe.Run, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, run, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGolden(t *testing.T) {
	for name, s := range viewtest.Runs() {
		t.Run(name, func(t *testing.T) { golden(t, name, text(t, s.Run(), Options{})) })
	}
	for _, w := range []int{60, 110, 200} {
		for _, name := range []string{"classic", "half-lost"} {
			t.Run(fmt.Sprintf("%s at %d", name, w), func(t *testing.T) {
				golden(t, fmt.Sprintf("%s-%d", name, w), text(t, viewtest.Runs()[name].Run(), Options{Width: w}))
			})
		}
	}
	t.Run("ascii", func(t *testing.T) {
		golden(t, "classic-ascii", text(t, viewtest.Classic().Run(), Options{ASCII: true}))
		golden(t, "half-lost-ascii", text(t, viewtest.HalfLost().Run(), Options{ASCII: true}))
	})
	t.Run("colour", func(t *testing.T) {
		got := text(t, viewtest.Classic().Run(), Options{Width: 110, Color: true})
		golden(t, "classic-110-colour", strings.ReplaceAll(got, "\x1b", "ESC"))
	})
}

func TestTextStaysInsideItsWidth(t *testing.T) {
	for name, s := range viewtest.Runs() {
		run := s.Run()
		run.Patch = nil // its commands are made to be copied, so they are never broken
		for w := MinWidth; w <= 210; w++ {
			for i, l := range strings.Split(text(t, run, Options{Width: w, Color: true}), "\n") {
				if got := ansi.StringWidth(l); got > w {
					t.Fatalf("%s at width %d: line %d takes %d cells: %q", name, w, i+1, got, l)
				}
			}
		}
	}
}

func TestColourSaysNothingAlone(t *testing.T) {
	for name, s := range viewtest.Runs() {
		coloured := text(t, s.Run(), Options{Color: true})
		var bare []string
		for l := range strings.SplitSeq(ansi.Strip(coloured), "\n") {
			bare = append(bare, strings.TrimRight(l, " "))
		}
		if diff := cmp.Diff(text(t, s.Run(), Options{}), strings.Join(bare, "\n")); diff != "" {
			t.Errorf("%s: without its escapes the coloured report is another (-plain +coloured):\n%s", name, diff)
		}
	}
}

func TestASCIIHasOnlyASCII(t *testing.T) {
	for name, s := range viewtest.Runs() {
		for _, w := range []int{60, 80, 200} {
			for _, r := range text(t, s.Run(), Options{ASCII: true, Width: w}) {
				if r > unicode.MaxASCII {
					t.Fatalf("%s at %d holds %q", name, w, r)
				}
			}
		}
	}
}

// obeys reports the first character of s that a terminal would obey or hide.
func obeys(s string) (rune, bool) {
	for _, r := range s {
		if r != '\n' && (unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)) {
			return r, true
		}
	}
	return 0, false
}

func TestHostileTextIsNeverObeyed(t *testing.T) {
	run := viewtest.Hostile().Run()
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text": func(b *bytes.Buffer) error { return Text(b, run, Options{}) },
		"json": func(b *bytes.Buffer) error { return JSON(b, run) },
		"yaml": func(b *bytes.Buffer) error { return YAML(b, run) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if r, found := obeys(b.String()); found {
			t.Errorf("%s holds %U", name, r)
		}
		if !strings.Contains(b.String(), "owned") {
			t.Errorf("%s left the text out instead of spelling it", name)
		}
	}
}

func TestJSONGolden(t *testing.T) {
	for _, name := range []string{"classic", "empty"} {
		var b bytes.Buffer
		if err := JSON(&b, viewtest.Runs()[name].Run()); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", b.String())
		b.Reset()
		if err := YAML(&b, viewtest.Runs()[name].Run()); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".yaml", b.String())
	}
}

func TestJSONReadsBackAsTheSameRun(t *testing.T) {
	for name, s := range viewtest.Runs() {
		var b bytes.Buffer
		run := complete(s.Run())
		if err := JSON(&b, run); err != nil {
			t.Fatal(err)
		}
		var got probe.Run
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := run
		if name == "hostile" {
			// JSON has no bytes that are no UTF-8: those become U+FFFD, the rest comes back.
			raw, err := json.Marshal(run)
			if err != nil {
				t.Fatal(err)
			}
			want = probe.Run{}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestJSONListsAreNeverNull(t *testing.T) {
	sparse := probe.Run{
		Resolutions: []probe.Resolution{{Attempts: []probe.Attempt{{Queries: []probe.Query{{}}}}}, {}},
		Findings:    []probe.Finding{{}},
		Patch:       &probe.Patch{Names: []probe.PatchName{{}}},
	}
	for name, run := range map[string]probe.Run{"sparse": sparse, "empty": {}} {
		var b bytes.Buffer
		if err := JSON(&b, run); err != nil {
			t.Fatal(err)
		}
		var tree map[string]any
		if err := json.Unmarshal(b.Bytes(), &tree); err != nil {
			t.Fatal(err)
		}
		// What may be absent says so in the contract: the patch, a round trip without a reply, a reply that never came.
		may := map[string]bool{"patch": true, "rttMs": true, "receivedMs": true}
		walkNulls(tree, "", func(path, field string) {
			if !may[field] {
				t.Errorf("%s: %s is null", name, path)
			}
		})
		if !strings.HasPrefix(b.String(), "{\n  \"schema\": \"dnsprobe.v1\",") {
			t.Errorf("%s: the document begins with %.40q", name, b.String())
		}
	}
	if sparse.Findings[0].Evidence != nil || sparse.Patch.Names[0].Before.Addresses != nil || sparse.Resolutions[1].Attempts != nil {
		t.Error("writing changed the run")
	}
}

func walkNulls(v any, path string, found func(path, field string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e == nil {
				found(path+"."+k, k)
			}
			walkNulls(e, path+"."+k, found)
		}
	case []any:
		for i, e := range v {
			walkNulls(e, fmt.Sprintf("%s[%d]", path, i), found)
		}
	}
}

func TestYAMLSaysTheSameAsJSON(t *testing.T) {
	run := viewtest.Classic().Run()
	var j, y bytes.Buffer
	if err := JSON(&j, run); err != nil {
		t.Fatal(err)
	}
	if err := YAML(&y, run); err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(j.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(y.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("(-json +yaml):\n%s", cmp.Diff(a, b))
	}
}

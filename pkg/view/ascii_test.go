package view

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestASCIIText(t *testing.T) {
	for in, want := range map[string]string{
		"10 → 2 queries – “better”": `10 -> 2 queries - "better"`,
		"决済.":                       `\u51b3\u6e08.`,
		"些":                         `\u4e9b`, // its last byte is 0x9b
		"a\x1b[1mb\xff":             `a\x1b[1mb\xff`,
		"plain":                     "plain",
	} {
		if got := ASCIIText(in); got != want {
			t.Errorf("ASCIIText(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestASCIIRunReachesEveryString fills a run with text that is not ASCII, everywhere a field can hold some.
func TestASCIIRunReachesEveryString(t *testing.T) {
	var run probe.Run
	fill(reflect.ValueOf(&run).Elem(), 0)
	before := run
	visit(t, reflect.ValueOf(ASCIIRun(run)), "Run")
	if diff := cmp.Diff(before, run); diff != "" {
		t.Errorf("the run itself was changed (-before +after):\n%s", diff)
	}
	if run.Resolutions[0].Attempts[0].Name != "些" {
		t.Errorf("the run itself was changed: %q", run.Resolutions[0].Attempts[0].Name)
	}
}

func fill(v reflect.Value, depth int) {
	if depth > 12 || v.Type() == clock {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("些")
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*probe.CgoProgram]() && depth > 2 {
			// The libc of a Go program is no Go program; its type would go on for ever.
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(elem, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, elem)
	}
}

func visit(t *testing.T, v reflect.Value, path string) {
	if v.Type() == clock {
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.String() != `\u4e9b` {
			t.Errorf("%s = %q", path, v.String())
		}
	case reflect.Pointer:
		if v.IsNil() && v.Type() == reflect.TypeFor[*probe.CgoProgram]() {
			return
		}
		visit(t, v.Elem(), path)
	case reflect.Struct:
		for i := range v.NumField() {
			visit(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		visit(t, v.Index(0), path+"[0]")
	case reflect.Map:
		for _, k := range v.MapKeys() {
			visit(t, k, path+" key")
			visit(t, v.MapIndex(k), path+"[]")
		}
	}
}

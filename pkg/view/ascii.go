package view

import (
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// spoken are characters that our own sentences use, and what says the same in ASCII.
var spoken = strings.NewReplacer("→", "->", "–", "-", "—", "-", "…", "...", "×", "x", "·", "-", "≥", ">=", "≤", "<=", "“", `"`, "”", `"`, "’", "'")

// ASCIIText returns text in ASCII alone, other characters spelled as \uNNNN. A terminal that does not read UTF-8 takes single
// bytes of it for controls: the last byte of U+4E9B is an eight-bit CSI (ECMA-48).
func ASCIIText(text string) string {
	for i := range len(text) {
		if text[i] >= 0x80 {
			text = spoken.Replace(text)
			break
		}
	}
	text = printable.Text(text, len(text))
	for i := range len(text) {
		if text[i] >= 0x80 {
			return escapeWide(text)
		}
	}
	return text
}

func escapeWide(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r <= unicode.MaxASCII {
			b.WriteRune(r)
		} else {
			b.WriteString(printable.Escape(r))
		}
	}
	return b.String()
}

// ASCIIRun returns a copy of run with all its text in ASCII. Nothing that run points at is changed.
func ASCIIRun(run probe.Run) probe.Run {
	return mapped(reflect.ValueOf(run)).Interface().(probe.Run)
}

// ASCIIEvent returns a copy of an event with all its text in ASCII.
func ASCIIEvent(ev probe.Event) probe.Event {
	return mapped(reflect.ValueOf(ev)).Interface().(probe.Event)
}

var clock = reflect.TypeFor[time.Time]()

// mapped returns a deep copy of v with every string in ASCII, line by line.
func mapped(v reflect.Value) reflect.Value {
	if v.Type() == clock {
		return v
	}
	switch v.Kind() {
	case reflect.String:
		lines := strings.Split(v.String(), "\n")
		for i := range lines {
			lines[i] = ASCIIText(lines[i])
		}
		return reflect.ValueOf(strings.Join(lines, "\n")).Convert(v.Type())
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(mapped(v.Elem()))
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			out.Field(i).Set(mapped(v.Field(i)))
		}
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(mapped(v.Index(i)))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(mapped(it.Key()), mapped(it.Value()))
		}
		return out
	}
	return v
}

package tui

import (
	"bytes"
	"io"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/report"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view/viewtest"
)

// FuzzScreens shows streams of which every part may be wrong, as a saved run can be: nothing panics, nothing is too wide, nothing
// is obeyed.
func FuzzScreens(f *testing.F) {
	for _, s := range viewtest.Runs() {
		var b bytes.Buffer
		enc := probe.NewEncoder(&b)
		for _, ev := range s.Events {
			if err := enc.Encode(ev); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(b.Bytes(), uint8(80), uint8(24), true)
	}
	f.Add([]byte(`{"event":"begin","resolution":"r","begin":{"host":"h"}}
{"event":"attempt","resolution":"r","atMs":-9e12,"attempt":{"n":-1,"name":"h.","searchIndex":-7}}
{"event":"sent","resolution":"r","atMs":9e12,"sent":{"attempt":-1,"type":"A","try":1}}
{"event":"received","resolution":"r","atMs":-5,"received":{"attempt":-1,"type":"A","rcode":"NOERROR","answers":null}}
{"event":"ended","resolution":"r","atMs":-3,"ended":{"outcome":"ok","decidedBy":-1}}
{"event":"what-if","whatIf":[{"host":"h","variant":"","durationMs":-1}]}
{"event":"patch","patch":{"names":[{}]}}`), uint8(60), uint8(20), false)
	f.Fuzz(func(t *testing.T, stream []byte, w, h uint8, ended bool) {
		var events []probe.Event
		for dec := probe.NewDecoder(bytes.NewReader(stream)); len(events) < 500; {
			ev, err := dec.Decode()
			if err != nil {
				break
			}
			events = append(events, ev)
		}
		m := model(t, events, ended, int(w), int(h))
		if w == 0 || h == 0 {
			return
		}
		for _, keys := range [][]string{nil, {"enter"}, {"p"}, {"?"}, {"tab", "enter"}, {"end", "enter"}, {"right"}} {
			check(t, press(m, keys...), "fuzzed")
		}
		wide := then(m, tea.WindowSizeMsg{Width: 200, Height: 50})
		check(t, wide, "fuzzed, wide")
		for _, o := range []report.Options{{Width: int(w)}, {ASCII: true, Color: true}} {
			if err := report.Text(io.Discard, m.run, o); err != nil {
				t.Fatal(err)
			}
		}
		if err := report.JSON(io.Discard, m.run); err != nil {
			t.Fatal(err)
		}
		if err := report.YAML(io.Discard, m.run); err != nil {
			t.Fatal(err)
		}
	})
}

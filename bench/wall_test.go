package main

import "testing"

func TestFiguresCompareMediansWithKubectlDebug(t *testing.T) {
	w := walls{
		debug: sample{All: []float64{1, 2, 3}}, firstBare: sample{All: []float64{3, 3, 9}}, secondBare: sample{All: []float64{1, 1, 2}}, answered: sample{All: []float64{3}},
	}
	got := map[string]figure{}
	for _, f := range w.figures() {
		got[f.Name] = f
	}
	if f := got["first probe to kubectl debug"]; f.Value != 1.5 || f.verdict() != "met" {
		t.Errorf("first probe: %v, %s, want 1.5, met", f.Value, f.verdict())
	}
	if f := got["second probe to kubectl debug"]; f.Value != 0.5 || f.verdict() != "met" {
		t.Errorf("second probe: %v, %s, want 0.5, met", f.Value, f.verdict())
	}
	if f := got["kubectl debug, with the answer"]; f.Value != 3 || f.How != "those 1 of 3 that showed it" {
		t.Errorf("kubectl debug with the answer: %v, %s", f.Value, f.How)
	}
	if _, there := got["first full run"]; there {
		t.Error("a full run was not measured, and is in the figures")
	}
}

func TestResolvedTellsFailuresFromRuns(t *testing.T) {
	for name, c := range map[string]struct {
		out string
		ok  bool
	}{
		"resolved":     {`{"resolutions":[{"host":"example.test","outcome":"ok"}]}`, true},
		"other host":   {`{"resolutions":[{"host":"other.test","outcome":"ok"}]}`, false},
		"no such name": {`{"resolutions":[{"host":"example.test","outcome":"nxdomain"}]}`, false},
		"nothing":      {`{}`, false},
		"no JSON":      {`error`, false},
	} {
		if err := resolved(c.out, "example.test"); (err == nil) != c.ok {
			t.Errorf("%s: error %v, want none: %t", name, err, c.ok)
		}
	}
}

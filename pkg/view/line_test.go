package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func text(lines []Line) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l.String())
	}
	return out
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name, in string
		w        int
		want     []string
	}{
		{"fits", "one two", 7, []string{"one two"}},
		{"breaks at blanks", "one two three", 8, []string{"one two", "three"}},
		{"breaks long words", "abcdefgh ij", 3, []string{"abc", "def", "gh", "ij"}},
		{"rest of a long word goes on", "abcd e", 3, []string{"abc", "d e"}},
		{"wide characters", "決済サービス", 5, []string{"決済", "サー", "ビス"}},
		{"a character wider than the line", "決a", 1, []string{"決", "a"}},
		{"nothing", "  ", 5, nil},
		{"newlines are spelled", "a\nb", 9, []string{`a\x0ab`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, text(Wrap(Plain, c.in, c.w))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestClip(t *testing.T) {
	line := Line{S(Strong, "abc"), S(Plain, "defg"), S(Faint, "")}
	for _, c := range []struct {
		w    int
		want string
	}{{7, "abcdefg"}, {6, "abcde…"}, {4, "abc…"}, {3, "ab…"}, {1, "…"}, {0, ""}} {
		if got := line.Clip(c.w, "…").String(); got != c.want {
			t.Errorf("Clip(%d) = %q, want %q", c.w, got, c.want)
		}
	}
}

func TestElideName(t *testing.T) {
	const host, name = "api.stripe.com", "api.stripe.com.shop.svc.cluster.local."
	for _, c := range []struct {
		w    int
		want string
	}{
		{38, name},
		{30, "api.st…shop.svc.cluster.local."},
		{28, "api.…shop.svc.cluster.local."},
		{20, "api.stripe…er.local."},
		{3, "a…."},
		{1, "a"},
	} {
		got := elideName(name, host, c.w, "…")
		if got != c.want || width(got) > c.w {
			t.Errorf("elideName(%d) = %q, want %q", c.w, got, c.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		ms   float64
		want string
	}{
		{0, "0 ms"},
		{0.042, "0.042 ms"},
		{0.4, "0.40 ms"},
		{0.999, "1.0 ms"},
		{47.24, "47.2 ms"},
		{99.96, "100 ms"},
		{470, "470 ms"},
		{999.4, "999 ms"},
		{999.6, "1.000 s"},
		{5005.2, "5.005 s"},
		{75000, "75.000 s"},
		{135000, "135 s"},
		{-1, "-1.0 ms"},
	} {
		if got := Duration(probe.Millis(c.ms * 1e6)); got != c.want {
			t.Errorf("Duration(%g ms) = %q, want %q", c.ms, got, c.want)
		}
	}
}

func TestAxisStaysInItsRoomAndCountsUp(t *testing.T) {
	for _, c := range []struct {
		ms   float64
		w    int
		want string
	}{
		{47.2, 24, "0    10   20   30  40 ms"},
		{47.2, 8, " 47.2 ms"},
		{15015, 15, "0        10 s"},
		{0, 20, ""},
	} {
		if got := axis(probe.Millis(c.ms*1e6), c.w); strings.TrimRight(got, " ") != c.want {
			t.Errorf("axis(%g ms, %d) = %q, want %q", c.ms, c.w, got, c.want)
		}
	}
	for w := range 80 {
		for ms := 0.001; ms < 1e7; ms *= 1.7 {
			if got := axis(probe.Millis(ms*1e6), w); len(got) > w {
				t.Fatalf("axis(%g ms, %d) = %q is too wide", ms, w, got)
			}
		}
	}
}

func TestUTF8(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{"LANG": "de_DE.UTF-8"}, true},
		{map[string]string{"LANG": "C.utf8"}, true},
		{map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, false},
		{map[string]string{"LC_CTYPE": "en_US.UTF-8", "LANG": "C"}, true},
		{map[string]string{"LANG": "de_DE"}, false},
	} {
		if got := UTF8(func(k string) string { return c.env[k] }); got != c.want {
			t.Errorf("UTF8(%v) = %v", c.env, got)
		}
	}
}

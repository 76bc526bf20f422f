package diagnose

import (
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestTimesInWords(t *testing.T) {
	tests := []struct {
		some, whole time.Duration
		want        string
	}{
		{0, 0, "0.0 of 0.0 ms"},
		{43100 * time.Microsecond, 47200 * time.Microsecond, "43.1 of 47.2 ms"},
		{43100 * time.Microsecond, 5 * time.Second, "43.1 ms of 5.00 s"},
		{5005 * time.Millisecond, 10010 * time.Millisecond, "5.00 of 10.01 s"},
		{999960 * time.Microsecond, time.Second, "1000.0 ms of 1.00 s"},
	}
	for _, tt := range tests {
		if got := part(probe.Millis(tt.some), probe.Millis(tt.whole)); got != tt.want {
			t.Errorf("part(%v, %v) = %q, want %q", tt.some, tt.whole, got, tt.want)
		}
	}
}

func TestListsInWords(t *testing.T) {
	tests := []struct {
		words []string
		want  string
	}{
		{nil, ""},
		{[]string{"a"}, "a"},
		{[]string{"a", "b"}, "a and b"},
		{[]string{"a", "b", "c"}, "a, b and c"},
		{[]string{"a", "b", "c", "d"}, "a, b, c and d"},
		{[]string{"a", "b", "c", "d", "e"}, "a, b, c and 2 more"},
	}
	for _, tt := range tests {
		before := len(tt.words)
		if got := list(tt.words); got != tt.want {
			t.Errorf("list(%q) = %q, want %q", tt.words, got, tt.want)
		}
		if len(tt.words) != before {
			t.Error("list changed its argument")
		}
	}
}

func TestCounts(t *testing.T) {
	for n, want := range map[int]string{0: "0 queries", 1: "1 query", 2: "2 queries", 1000: "1000 queries"} {
		if got := count(n, "query", "queries"); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestServersInWords(t *testing.T) {
	for server, want := range map[string]string{
		"10.0.0.1:53": "10.0.0.1", "[fd00::1]:53": "fd00::1", "10.0.0.1:5353": "10.0.0.1:5353", "": "", "10.0.0.1": "10.0.0.1",
	} {
		if got := host(server); got != want {
			t.Errorf("host(%q) = %q, want %q", server, got, want)
		}
	}
}

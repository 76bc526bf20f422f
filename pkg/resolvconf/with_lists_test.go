package resolvconf

import (
	"slices"
	"testing"
)

func TestWithSearch(t *testing.T) {
	for _, c := range []struct {
		name, text string
		domains    []string
		want       string
	}{
		{"replaced in place", "search a b\nnameserver 1.1.1.1\n", []string{"c"}, "search c\nnameserver 1.1.1.1\n"},
		{"taken away", "search a b\nnameserver 1.1.1.1\n", nil, "nameserver 1.1.1.1\n"},
		{"added", "nameserver 1.1.1.1", []string{"c", "d"}, "nameserver 1.1.1.1\nsearch c d\n"},
		{"added to nothing", "", []string{"c"}, "search c\n"},
		{"domain lines are search lines", "domain x\noptions ndots:5\nsearch a\n", []string{"c"}, "search c\noptions ndots:5\n"},
		{"indented ones too, which Go reads", "  search a\n", []string{"c"}, "search c\n"},
		{"line ends stay", "search a\r\noptions rotate\r\n", []string{"c"}, "search c\r\noptions rotate\r\n"},
		{"comments stay", "# search a\nsearch a\n", []string{"c"}, "# search a\nsearch c\n"},
		{"the last line without an end", "search a", []string{"c"}, "search c\n"},
	} {
		if got := WithSearch(c.text, c.domains); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWithNameservers(t *testing.T) {
	const text = "nameserver 10.0.0.1\nsearch a\nnameserver 10.0.0.2\n"
	if got, want := WithNameservers(text, []string{"10.0.0.3", "10.0.0.1"}), "nameserver 10.0.0.3\nnameserver 10.0.0.1\nsearch a\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := WithNameservers(text, nil), "search a\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEveryLibcReadsTheNewLists: what is written has to be what each libc reads.
func TestEveryLibcReadsTheNewLists(t *testing.T) {
	text := WithNameservers(WithSearch("# by hand\n search x\ndomain y\nnameserver 9.9.9.9\noptions ndots:5\n", []string{"a.test", "b.test"}), []string{"10.0.0.7", "10.0.0.8"})
	for _, libc := range []Libc{Glibc, Musl, Go, CAres} {
		c, err := Parse(libc, text, Inputs{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(c.Search, []string{"a.test", "b.test"}) || len(c.Nameservers) != 2 || c.Nameservers[0].String() != "10.0.0.7" || c.Ndots != 5 {
			t.Errorf("%s reads %+v from %q", libc, c, text)
		}
	}
}

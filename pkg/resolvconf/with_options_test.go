package resolvconf

import "testing"

func TestWithOptions(t *testing.T) {
	for _, c := range []struct {
		name, text string
		words      []string
		want       string
	}{
		{
			"replaced in place", "search a\noptions ndots:5 timeout:2\nnameserver 1.1.1.1\n",
			[]string{"ndots:2"},
			"search a\noptions ndots:2 timeout:2\nnameserver 1.1.1.1\n",
		},
		{
			"added to the last options line", "options ndots:5\noptions\trotate  \nsearch a\n",
			[]string{"use-vc"},
			"options ndots:5\noptions\trotate use-vc  \nsearch a\n",
		},
		{"a line of its own", "nameserver 1.1.1.1", []string{"ndots:2", "use-vc"}, "nameserver 1.1.1.1\noptions ndots:2 use-vc\n"},
		{"an empty file", "", []string{"ndots:2"}, "options ndots:2\n"},
		{"duplicates become one", "options ndots:5 ndots:4\noptions ndots:3 edns0\n", []string{"ndots:2"}, "options ndots:2\noptions edns0\n"},
		{"taken away", "options ndots:5 single-request edns0\n", []string{"-single-request"}, "options ndots:5 edns0\n"},
		{"taken away with its value", "options ndots:5 edns0\n", []string{"-ndots"}, "options edns0\n"},
		{"the last option takes its line with it", "search a\noptions ndots:5\nnameserver 1.1.1.1\n", []string{"-ndots"}, "search a\nnameserver 1.1.1.1\n"},
		{"nothing to take away", "options ndots:5\n", []string{"-rotate"}, "options ndots:5\n"},
		{"names are whole", "options single-request-reopen\n", []string{"single-request"}, "options single-request-reopen single-request\n"},
		{"line ends stay", "options ndots:5\r\nsearch a\r\n", []string{"ndots:2", "rotate"}, "options ndots:2 rotate\r\nsearch a\r\n"},
		{"indented lines are no options", " options ndots:5\n", []string{"ndots:2"}, " options ndots:5\noptions ndots:2\n"},
		{"comments stay", "# options ndots:5\noptions  ndots:5\tattempts:3\n", []string{"ndots:1"}, "# options ndots:5\noptions  ndots:1\tattempts:3\n"},
		{"no words", "options ndots:5", nil, "options ndots:5"},
		{"an empty word", "options ndots:5\n", []string{""}, "options ndots:5\n"},
	} {
		if got := WithOptions(c.text, c.words); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

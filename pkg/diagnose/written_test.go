package diagnose

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestWhatAFileWasMeantToSay(t *testing.T) {
	v := &view{run: probe.Run{Settings: probe.Settings{Raw: "# search no\n  Search a.example b.example # old c\r\nnameserver 192.0.2.1:53 x\nsearch\nDOMAIN d.example\r\n"}}}
	w := v.written()
	var got []string
	for _, d := range w.search {
		got = append(got, d.name)
	}
	if text := strings.Join(got, " "); text != "a.example b.example d.example" {
		t.Errorf("search %q", text)
	}
	if len(w.nameservers) != 1 || w.nameservers[0] != "192.0.2.1:53" {
		t.Errorf("nameservers %q", w.nameservers)
	}
	if w.search[0].at != 2 || w.search[2].at != 5 {
		t.Errorf("lines %d and %d", w.search[0].at, w.search[2].at)
	}
}

func TestDomainsThatAreNotSearched(t *testing.T) {
	tests := map[string]struct {
		raw  string
		used []string
		env  map[string]string
		want string
	}{
		"all":                      {"search a.example B.example.\n", []string{"a.example", "b.example"}, nil, ""},
		"one":                      {"search a.example b.example\n", []string{"a.example"}, nil, "b.example"},
		"two lines, the last wins": {"search a.example\nsearch b.example\n", []string{"b.example"}, nil, "a.example"},
		"no domains":               {"search . .a a..b\n", nil, nil, ""},
		"the environment decides":  {"search a.example\n", []string{"c.example"}, map[string]string{"LOCALDOMAIN": "c.example"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := &view{run: probe.Run{Settings: probe.Settings{Raw: tt.raw, Search: tt.used, Env: tt.env}}}
			var got []string
			for _, d := range v.unread() {
				got = append(got, d.name)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

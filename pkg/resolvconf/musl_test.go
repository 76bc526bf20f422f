package resolvconf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var longDomain = strings.Repeat("x", 254-len("search a.test "))

// muslCases are what musl makes of the same files, and of some of its own.
var muslCases = []glibcCase{
	{
		file: "cluster", servers: "10.96.0.10", search: []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "ec2.internal"},
		numbers: [3]int{5, 5, 2}, options: []string{"ndots:5"},
	},
	{file: "empty", servers: "127.0.0.1", warnings: []string{"0 no valid nameserver"}},
	{file: "indented", servers: "127.0.0.3", warnings: []string{"1 indented", "3 indented"}},
	{file: "comment-behind-search", search: []string{"a.test", "#", "note"}, warnings: []string{`2 takes 2 words from "#"`}},
	{
		file: "comment-behind-options", numbers: [3]int{2, 5, 2}, options: []string{"ndots:2", "#", "ndots:7", "was", "too", "slow"},
		warnings: []string{`2 in the 5 words from "#"`},
	},
	{file: "comments"},
	{file: "four-nameservers", servers: "127.0.0.2 127.0.0.3 127.0.0.4", warnings: []string{"4 never used"}},
	{file: "crlf", search: []string{"s.test"}, numbers: [3]int{2, 5, 2}, options: []string{"ndots:2"}},
	{file: "aton", servers: "127.0.0.2 127.0.0.3 127.0.0.8"},
	{file: "scope", servers: "fe80::1%eth0 fd00::1%7 ::1", warnings: []string{"2 takes no reply from it"}},
	{
		file: "bad-nameservers", servers: "127.0.0.1",
		warnings: []string{"1 not an address", "2 not an address", "3 not an address", "4 not an address", "0 no valid"},
	},
	{file: "domain", search: []string{"b.test", "c.test"}, from: SearchFromDomain, warnings: []string{"2 all 2 words"}},
	{file: "last-wins", search: []string{"c.test", "d.test"}, warnings: []string{"3 replaces line 2", "4 replaces line 3"}},
	{file: "empty-search", warnings: []string{"3 replaces line 2", "3 clears the search list", "4 replaces line 3"}},
	{file: "root", search: []string{"a.test", ".", ".b.test"}, warnings: []string{"2 .: skipped", "2 .b.test: skipped"}},
	{
		file: "root", in: Inputs{Version: "1.2.3"}, search: []string{"a.test", ".", ".b.test"},
		warnings: []string{"2 .: musl before 1.2.4 sends a malformed query", "2 .b.test: musl before 1.2.4 gives a search up"},
	},
	{
		file: "caps", numbers: [3]int{15, 60, 10}, options: []string{"ndots:99", "timeout:99", "attempts:99"},
		warnings: []string{"2 ndots:99: musl uses 15", "2 attempts:99: musl uses 10", "2 timeout:99: musl uses 60"},
	},
	{
		file: "odd-numbers", options: []string{"ndots:x", "timeout:", "7", "attempts:+3"},
		warnings: []string{"2 ndots:x: ignored, musl wants digits", "2 timeout:: ignored", "2 7: ignored, musl only knows", "2 attempts:+3: ignored"},
	},
	{
		file: "negative", options: []string{"ndots:-1", "timeout:-1", "attempts:-1"},
		warnings: []string{"2 ndots:-1: ignored", "2 timeout:-1: ignored", "2 attempts:-1: ignored"},
	},
	{
		file: "overflow", numbers: [3]int{15, 60, 2}, options: []string{"ndots:99999999999999999999", "timeout:4294967298"},
		warnings: []string{"2 musl uses 15", "2 musl uses 60"},
	},
	{file: "tabs", search: []string{"a.test", "b.test"}},
	{file: "two-on-a-line", warnings: []string{"1 only the first address"}},
	{file: "duplicates", search: []string{"a.test", "a.test"}},
	{file: "no-newline", search: []string{"a.test"}},
	{
		file: "unknown-options", options: []string{"inet6", "debug", "ndots"},
		warnings: []string{"2 inet6: ignored", "2 debug: ignored", "2 ndots: ignored"},
	},
	{
		file: "cluster", in: Inputs{Hostname: "pod.example.test", Env: map[string]string{"RES_OPTIONS": "ndots:1", "LOCALDOMAIN": ""}},
		servers: "10.96.0.10", search: []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "ec2.internal"},
		numbers: [3]int{5, 5, 2}, options: []string{"ndots:5"}, warnings: []string{"0 without effect", "0 without effect"},
	},
	{file: "musl/long-search", numbers: [3]int{2, 5, 2}, options: []string{"ndots:2"}, warnings: []string{"2 the whole search list of this line, since it has 303 characters"}},
	{file: "musl/longest", search: []string{"a.test", longDomain}, warnings: []string{"2 skipped"}},
	{file: "musl/too-long", warnings: []string{"2 it has 255 characters and musl reads at most 254"}},
	{file: "musl/longest-unended", search: []string{"a.test", longDomain}, warnings: []string{"2 skipped"}},
	{file: "musl/too-long-unended", warnings: []string{"2 it has 255 characters"}},
	{file: "musl/long-others", warnings: []string{"3 all options of this line", "4 musl drops the line"}},
	{
		file: "musl/first-option", numbers: [3]int{4, 7, 2},
		options:  []string{"ndots:2", "ndots:3", "xtimeout:7", "attempts:x", "attempts:4", "rotate", "ndots:4"},
		warnings: []string{"2 ndots:3: without effect", "2 xtimeout:7: musl reads it as timeout:7", "2 attempts:x: ignored", "2 attempts:4: without effect", "2 rotate: ignored"},
	},
	{
		file: "musl/zero", numbers: [3]int{0, 0, 0}, options: []string{"attempts:0", "timeout:0", "ndots:0"},
		warnings: []string{"2 SIGFPE", "2 sends nothing at all"},
	},
	{file: "musl/dotted-timeout", options: []string{"timeout:.5"}, warnings: []string{"2 wants digits"}},
	{
		file: "musl/odd-domains", search: []string{"a.test", ".", ".b.test", "c..test", "d.test.", strings.Repeat("l", 64) + ".test"},
		warnings: []string{"2 .: skipped", "2 .b.test: skipped", "2 c..test: skipped", "2 skipped"},
	},
	{file: "musl/nul-line", servers: "127.0.0.4", search: []string{"a.test"}, warnings: []string{"1 together with the line after it"}},
	{file: "musl/same-server", servers: "127.0.0.2 127.0.0.2", warnings: []string{"2 once for every nameserver line"}},
	{
		file: "musl/zones", servers: "fe80::1%eth0 fd00::1%7 fd00::2",
		warnings: []string{"2 not an address", "3 takes no reply from it"},
	},
	{file: "musl/spaces", search: []string{"a.test", "b.test"}, warnings: []string{"3 lower case", "4 not a keyword"}},
}

func TestParseMusl(t *testing.T) {
	used := map[string]bool{}
	for _, want := range muslCases {
		used[want.file] = true
		t.Run(want.file+want.in.Version, func(t *testing.T) {
			// The zero value of numbers stands for the defaults.
			got := ParseMusl(read(t, want.file), want.in)
			if want.file == "musl/zero" {
				if got.Ndots != 0 || got.TimeoutSeconds != 0 || got.Attempts != 0 {
					t.Errorf("ndots, timeout, attempts %d, %d, %d, want all 0", got.Ndots, got.TimeoutSeconds, got.Attempts)
				}
				got.Ndots, got.TimeoutSeconds, got.Attempts = 1, 5, 2
			}
			want.check(t, got)
		})
	}
	files, err := os.ReadDir("testdata/musl")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := "musl/" + strings.TrimSuffix(f.Name(), ".conf"); !used[name] {
			t.Errorf("testdata/%s belongs to no case", name)
		}
	}
}

func TestParseMuslVersion(t *testing.T) {
	for text, want := range map[string]MuslVersion{
		"1.2.5": {1, 2, 5}, "1.2.3-1": {1, 2, 3}, "1.1.24-r10": {1, 1, 24}, "1.2.5-git-23-gb8c2": {1, 2, 5}, "1.2.4_git20230717-r4": {1, 2, 4},
	} {
		if got, ok := ParseMuslVersion(text); !ok || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "1", "1.2", "1.2.", "x.2.5", "1.2.x", "-1.2.5", "1.2.99999999999999999999"} {
		if got, ok := ParseMuslVersion(text); ok {
			t.Errorf("%q: %v, want none", text, got)
		}
	}
	v := MuslVersion{1, 2, 3}
	if !v.AtLeast(1, 2, 3) || !v.AtLeast(1, 1, 24) || !v.AtLeast(0, 9, 99) || v.AtLeast(1, 2, 4) || v.AtLeast(1, 3, 0) || v.AtLeast(2, 0, 0) {
		t.Error("AtLeast compares wrongly")
	}
}

func FuzzParseMusl(f *testing.F) {
	for _, pattern := range []string{"testdata/*.conf", "testdata/musl/*.conf"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%d seeds, %v", len(files), err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text), "1.2.3")
		}
	}
	f.Fuzz(func(t *testing.T, text, version string) {
		c := ParseMusl(text, Inputs{Version: version})
		if n := len(c.Nameservers); n == 0 || n > muslMaxNameservers {
			t.Errorf("%d nameservers", n)
		}
		if c.Ndots < 0 || c.Ndots > 15 || c.Attempts < 0 || c.Attempts > 10 || c.TimeoutSeconds < 0 || c.TimeoutSeconds > 60 {
			t.Errorf("ndots %d, attempts %d, timeout %d", c.Ndots, c.Attempts, c.TimeoutSeconds)
		}
		bytes := 0
		for _, d := range c.Search {
			if bytes += len(d) + 1; d == "" || strings.ContainsAny(d, " \t\n\v\f\r\x00") {
				t.Errorf("search domain %q", d)
			}
		}
		if bytes > muslLineBytes || len(c.Warnings) > maxWarnings {
			t.Errorf("%d bytes of search domains, %d warnings", bytes, len(c.Warnings))
		}
	})
}

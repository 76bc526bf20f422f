package resolvconf

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goCases are what Go makes of the files that all dialects share, and of those in testdata/golang.
var goCases = []glibcCase{
	{
		file: "cluster", servers: "10.96.0.10", search: []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "ec2.internal"},
		numbers: [3]int{5, 5, 2}, options: []string{"ndots:5"},
	},
	{file: "empty", servers: "127.0.0.1 ::1", warnings: []string{"0 Go asks 127.0.0.1, then ::1"}},
	{file: "indented", servers: "127.0.0.2 127.0.0.3", search: []string{"a.test"}},
	{file: "comment-behind-search", search: []string{"a.test", "#", "note"}, warnings: []string{`2 takes 2 words from "#"`}},
	{
		file: "comment-behind-options", numbers: [3]int{7, 5, 2}, options: []string{"ndots:2", "#", "ndots:7", "was", "too", "slow"},
		warnings: []string{`2 reads 5 words from "#"`, "2 #: ignored", "2 was: ignored", "2 too: ignored", "2 slow: ignored"},
	},
	{file: "comments", warnings: []string{"4 not a comment to Go"}},
	{file: "four-nameservers", servers: "127.0.0.2 127.0.0.3 127.0.0.4", warnings: []string{"4 never used"}},
	{file: "crlf", search: []string{"s.test"}, numbers: [3]int{2, 5, 2}, options: []string{"ndots:2"}},
	{file: "aton", servers: "127.0.0.1 ::1", warnings: []string{"1 not an address", "2 not an address", "3 not an address", "0 no valid"}},
	{file: "scope", servers: "fe80::1%eth0 fd00::1%7 ::1"},
	{
		file: "bad-nameservers", servers: "127.0.0.1 ::1",
		warnings: []string{"1 not an address", "2 not an address", "3 no address behind", "4 not an address", "0 no valid"},
	},
	{file: "domain", search: []string{"b.test"}, from: SearchFromDomain, warnings: []string{"2 only the first domain"}},
	{file: "last-wins", search: []string{"c.test", "d.test"}, warnings: []string{"3 replaces line 2", "4 replaces line 3"}},
	{file: "empty-search", warnings: []string{"3 replaces line 2", "3 clears the search list", "4 no domain behind"}},
	{file: "root", search: []string{"a.test", ".b.test"}, warnings: []string{"2 leaves it out", "2 .b.test: Go cannot put it"}},
	{file: "root", in: Inputs{Version: "1.19.8"}, search: []string{"a.test", ".", ".b.test"}, warnings: []string{"2 .: Go cannot", "2 .b.test: Go cannot"}},
	{
		file: "caps", numbers: [3]int{15, 99, 99}, options: []string{"ndots:99", "timeout:99", "attempts:99"},
		warnings: []string{"2 ndots:99: Go uses 15"},
	},
	{
		file: "flags", flags: "rotate edns0 single-request single-request-reopen no-reload use-vc trust-ad",
		options:  strings.Fields("rotate edns0 single-request single-request-reopen no_tld_query no-reload use-vc trust-ad no-aaaa"),
		warnings: []string{"2 no_tld_query: ignored", "2 no-aaaa: ignored, not an option that Go knows; a program built with cgo"},
	},
	{
		file: "flags", in: Inputs{Version: "1.19.8"}, flags: "rotate single-request single-request-reopen use-vc",
		options: strings.Fields("rotate edns0 single-request single-request-reopen no_tld_query no-reload use-vc trust-ad no-aaaa"),
		warnings: []string{
			"2 edns0: without effect, Go knows it from 1.20", "2 no_tld_query: ignored", "2 no-reload: without effect, Go knows it from 1.20",
			"2 trust-ad: without effect, Go knows it from 1.20", "2 no-aaaa: ignored",
		},
	},
	{
		file: "negative", numbers: [3]int{0, 1, 1}, options: []string{"ndots:-1", "timeout:-1", "attempts:-1"},
		warnings: []string{
			"2 ndots:-1: not a number where Go expects one, it reads 0", "2 timeout:-1: not a number", "2 timeout:-1: Go uses 1",
			"2 attempts:-1: not a number", "2 attempts:-1: Go uses 1",
		},
	},
	{
		file: "odd-numbers", numbers: [3]int{0, 1, 1}, options: []string{"ndots:x", "timeout:", "7", "attempts:+3"},
		warnings: []string{
			"2 ndots:x: not a number", "2 timeout:: not a number", "2 timeout:: Go uses 1", "2 7: ignored", "2 attempts:+3: not a number",
			"2 attempts:+3: Go uses 1",
		},
	},
	{
		file: "overflow", numbers: [3]int{15, 0xffffff, 2}, options: []string{"ndots:99999999999999999999", "timeout:4294967298"},
		warnings: []string{"2 Go uses 15"},
	},
	{
		file: "prefixes", options: []string{"rotatexyz", "single-requests", "single-request-reopened"},
		warnings: []string{"2 rotatexyz: ignored", "2 single-requests: ignored", "2 single-request-reopened: ignored"},
	},
	{
		file: "unknown-options", options: []string{"inet6", "debug", "ndots"},
		warnings: []string{"2 inet6: ignored", "2 debug: ignored", "2 ndots: ignored"},
	},
	{file: "upper-case", servers: "127.0.0.4", warnings: []string{"1 not a keyword", "2 not a keyword"}},
	{file: "two-on-a-line", warnings: []string{"1 only the first address"}},
	{file: "tabs", search: []string{"a.test", "b.test"}},
	{file: "no-newline", search: []string{"a.test"}},
	{
		file: "nul", servers: "127.0.0.1 ::1", search: []string{"a.test\x00", "b.test"},
		warnings: []string{"1 not an address", "3 not a keyword that Go knows", "0 no valid"},
	},
	{
		file: "minus", flags: "single-request rotate", options: []string{"single-request", "rotate", "strict-error", "-single-request", "-rotate"},
		warnings: []string{"2 strict-error: ignored", "3 -single-request: ignored", "3 -rotate: ignored"},
	},
	{file: "duplicates", search: []string{"a.test", "a.test"}},
	{file: "eight", search: strings.Fields("d1.test d2.test d3.test d4.test d5.test d6.test d7.test d8.test")},
	{file: "last-option-wins", numbers: [3]int{4, 5, 2}, options: []string{"ndots:2", "ndots:3", "ndots:4"}},
	{file: "localdomain-unset-keyword", warnings: []string{"2 not a keyword", "3 on OpenBSD only"}},
	// The host name and the environment.
	{file: "comments", in: Inputs{Hostname: "pod1.ns1.example.test"}, search: []string{"ns1.example.test"}, from: SearchFromHostname, warnings: []string{"4 not a comment"}},
	{file: "tabs", in: Inputs{Hostname: "a.b"}, search: []string{"a.test", "b.test"}},
	{file: "empty", in: Inputs{Hostname: "pod1."}, servers: "127.0.0.1 ::1", warnings: []string{"0 no valid"}},
	{
		file: "no-newline", in: Inputs{Env: map[string]string{"LOCALDOMAIN": "", "RES_OPTIONS": "ndots:3"}}, search: []string{"a.test"},
		warnings: []string{"0 leaves all resolving to libc", "0 leaves all resolving to libc"},
	},
	{file: "no-newline", in: Inputs{Env: map[string]string{"RES_OPTIONS": ""}}, search: []string{"a.test"}},
	// Files of Go's own.
	{file: "golang/indented-comments", warnings: []string{"2 not a comment to Go", "3 not a comment to Go", "4 not a keyword"}},
	{file: "golang/addresses", servers: "127.0.0.2 ::1%lo 127.0.0.4", warnings: []string{"2 only the first address"}},
	{
		file: "golang/unsendable", search: []string{"ok.test", ".lead.test", "a..b.test", strings.Repeat("a", 64) + ".test", ".."},
		warnings: []string{"2 .lead.test: Go cannot", "2 a..b.test: Go cannot", "2 Go cannot", "2 ..: Go cannot"},
	},
	{file: "golang/domain-root", search: []string{"."}, from: SearchFromDomain, warnings: []string{"2 .: Go cannot"}},
	{
		file: "golang/options", flags: "use-vc single-request-reopen edns0 trust-ad no-reload", numbers: [3]int{2, 1, 1},
		options: strings.Fields("usevc tcp timeout:0 attempts:0 single-request-reopen edns0 trust-ad no-reload ndots:2x timeout:"),
		warnings: []string{
			"3 timeout:0: Go uses 1", "3 attempts:0: Go uses 1", "3 ndots:2x: not a number where Go expects one, it reads 2",
			"3 timeout:: not a number", "3 timeout:: Go uses 1",
		},
	},
}

func TestParseGo(t *testing.T) {
	used := map[string]bool{}
	for i, want := range goCases {
		used[want.file] = true
		t.Run(fmt.Sprintf("%d %s", i, want.file), func(t *testing.T) { want.check(t, ParseGo(read(t, want.file), want.in)) })
	}
	for _, pattern := range []string{"testdata/*.conf", "testdata/golang/*.conf"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, f := range files {
			if name := strings.TrimSuffix(strings.TrimPrefix(f, "testdata/"), ".conf"); !used[name] {
				t.Errorf("%s belongs to no case", f)
			}
		}
	}
	if c, err := Parse(Go, read(t, "indented"), Inputs{}); err != nil || len(c.Nameservers) != 2 {
		t.Errorf("by name: %+v, %v", c, err)
	}
}

func TestUnknownToGo(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"# x\n;y\n\n \t\r\noptions ndots:5 rotate\r\n": "",
		"options edns0 trust-ad\n":                     "",
		"options ndots:5 no-aaaa\n":                    `the option "no-aaaa"`,
		"options # five\n":                             `the option "#"`,
		"sortlist 10.0.0.0\n":                          `the keyword "sortlist"`,
		" # note\n":                                    `the keyword "#"`,
		"lookup file bind\n":                           "",
		"search\nnameserver x\n":                       "",
		"options a\nbogus\n":                           `the option "a"`,
		"options ndots\n":                              `the option "ndots"`,
		"options \x1b[31m\n":                           `the option "\x1b[31m"`,
		"options timeout: ndots:x\n":                   "",
	} {
		if got := UnknownToGo(text, "1.26.8"); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := UnknownToGo("options edns0 trust-ad\n", "1.19.8"); got != `the option "edns0"` {
		t.Errorf("1.19: %s", got)
	}
}

func FuzzParseGo(f *testing.F) {
	for _, pattern := range []string{"testdata/*.conf", "testdata/golang/*.conf"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%d seeds, %v", len(files), err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text), "pod.ns.test", "1.26.8")
		}
	}
	f.Fuzz(func(t *testing.T, text, hostname, version string) {
		in := Inputs{Hostname: hostname, Version: version}
		c := ParseGo(text, in)
		if n := len(c.Nameservers); n == 0 || n > goMaxNameservers {
			t.Errorf("%d nameservers", n)
		}
		if c.Ndots < 0 || c.Ndots > 15 || c.Attempts < 1 || c.TimeoutSeconds < 1 || c.Attempts > goBig || c.TimeoutSeconds > goBig {
			t.Errorf("ndots %d, attempts %d, timeout %d", c.Ndots, c.Attempts, c.TimeoutSeconds)
		}
		if slices.Contains(c.Search, "") || len(c.Warnings) > maxWarnings || len(UnknownToGo(text, version)) > 400 {
			t.Errorf("%+v", c)
		}
	})
}

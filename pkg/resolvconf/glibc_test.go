package resolvconf

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// glibcCase is what glibc makes of a file. Empty fields mean the default: one nameserver 127.0.0.2, nothing else.
type glibcCase struct {
	file    string
	in      Inputs
	servers string
	search  []string
	from    SearchSource
	// numbers are ndots, timeout, attempts.
	numbers [3]int
	flags   string
	options []string
	// warnings are parts of the effects, in order, each behind its line number.
	warnings []string
}

var glibcCases = []glibcCase{
	{
		file: "cluster", servers: "10.96.0.10", search: []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "ec2.internal"},
		numbers: [3]int{5, 5, 2}, options: []string{"ndots:5"},
	},
	{file: "empty", servers: "127.0.0.1", warnings: []string{"0 no valid nameserver"}},
	{file: "indented", servers: "127.0.0.3", warnings: []string{"1 indented", "3 indented"}},
	{file: "comment-behind-search", search: []string{"a.test", "#", "note"}, warnings: []string{`2 takes 2 words from "#"`}},
	{
		file: "comment-behind-options", numbers: [3]int{7, 5, 2}, options: []string{"ndots:2", "#", "ndots:7", "was", "too", "slow"},
		warnings: []string{"2 no comments", "2 #: ignored", "2 was: ignored", "2 too: ignored", "2 slow: ignored"},
	},
	{file: "comments"},
	{file: "four-nameservers", servers: "127.0.0.2 127.0.0.3 127.0.0.4", warnings: []string{"4 never used"}},
	{
		file: "crlf", servers: "127.0.0.1", search: []string{"s.test\r"}, numbers: [3]int{2, 5, 2}, options: []string{"ndots:2"},
		warnings: []string{"1 carriage return", "1 not an address", "2 carriage return", "0 no valid nameserver"},
	},
	{file: "aton", servers: "127.0.0.2 127.0.0.3 127.0.0.8"},
	{file: "scope", servers: "fe80::1%eth0 fd00::1 ::1"},
	{
		file: "bad-nameservers", servers: "127.0.0.1",
		warnings: []string{"1 not an address", "2 not an address", "3 keyword in lower case, with a space", "4 not an address", "0 no valid"},
	},
	{file: "domain", search: []string{"b.test"}, from: SearchFromDomain, warnings: []string{"2 only the first domain"}},
	{file: "last-wins", search: []string{"c.test", "d.test"}, warnings: []string{"3 replaces line 2", "4 replaces line 3"}},
	{file: "empty-search", search: []string{"a.test"}},
	{file: "root", search: []string{"a.test", ".", ".b.test"}},
	{
		file: "caps", numbers: [3]int{15, 30, 5}, options: []string{"ndots:99", "timeout:99", "attempts:99"},
		warnings: []string{"2 ndots:99: glibc uses 15", "2 timeout:99: glibc uses 30", "2 attempts:99: glibc uses 5"},
	},
	{
		file: "odd-numbers", numbers: [3]int{0, 7, 3}, options: []string{"ndots:x", "timeout:", "7", "attempts:+3"},
		warnings: []string{"2 ndots:x: not a number", "2 timeout:: not a number where glibc expects one, it reads 7", "2 7: ignored"},
	},
	{
		file: "negative", numbers: [3]int{15, -1, -1}, options: []string{"ndots:-1", "timeout:-1", "attempts:-1"},
		warnings: []string{"2 ndots is 15", "2 waits 1 second", "2 sends nothing"},
	},
	{
		file: "overflow", numbers: [3]int{15, 2, 2}, options: []string{"ndots:99999999999999999999", "timeout:4294967298"},
		warnings: []string{"2 ndots is 15"},
	},
	{file: "last-option-wins", numbers: [3]int{4, 5, 2}, options: []string{"ndots:2", "ndots:3", "ndots:4"}},
	{
		file: "prefixes", flags: "rotate single-request single-request-reopen",
		options:  []string{"rotatexyz", "single-requests", "single-request-reopened"},
		warnings: []string{"2 reads it as rotate", "2 reads it as single-request", "2 reads it as single-request-reopen"},
	},
	{
		file: "flags", flags: "rotate edns0 single-request single-request-reopen no-tld-query no-reload use-vc trust-ad no-aaaa",
		options: strings.Fields("rotate edns0 single-request single-request-reopen no_tld_query no-reload use-vc trust-ad no-aaaa"),
	},
	{
		file: "flags", in: Inputs{Version: "2.28"}, flags: "rotate edns0 single-request single-request-reopen no-tld-query no-reload use-vc",
		options:  strings.Fields("rotate edns0 single-request single-request-reopen no_tld_query no-reload use-vc trust-ad no-aaaa"),
		warnings: []string{"2 trust-ad: without effect, glibc knows it from 2.31", "2 no-aaaa: without effect, glibc knows it from 2.36"},
	},
	{
		file: "unknown-options", options: []string{"inet6", "debug", "ndots"},
		warnings: []string{"2 inet6: ignored", "2 debug: ignored", "2 ndots: ignored"},
	},
	{file: "upper-case", servers: "127.0.0.4", warnings: []string{"1 lower case", "2 lower case"}},
	{file: "two-on-a-line", warnings: []string{"1 only the first address"}},
	{file: "tabs", search: []string{"a.test", "b.test"}},
	{file: "no-newline", search: []string{"a.test"}},
	{file: "nul", search: []string{"a.test"}, warnings: []string{"3 getaddrinfo sorts again"}},
	{
		file: "minus", flags: "single-request rotate", options: []string{"single-request", "rotate", "strict-error", "-single-request", "-rotate"},
		warnings: []string{"2 strict-error: without effect", "3 -single-request: ignored", "3 -rotate: ignored"},
	},
	{
		file: "minus", in: Inputs{Version: "2.41"}, flags: "strict-error",
		options: []string{"single-request", "rotate", "strict-error", "-single-request", "-rotate"},
	},
	{file: "duplicates", search: []string{"a.test", "a.test"}},
	{file: "eight", search: strings.Fields("d1.test d2.test d3.test d4.test d5.test d6.test d7.test d8.test")},
	{
		file: "eight", in: Inputs{Version: "2.17"}, search: strings.Fields("d1.test d2.test d3.test d4.test d5.test d6.test"),
		warnings: []string{"2 only the first 6"},
	},
	{file: "localdomain-unset-keyword", warnings: []string{"2 not a keyword", "3 not a keyword"}},
	// The host name and the environment.
	{file: "comments", in: Inputs{Hostname: "pod1.ns1.example.test"}, search: []string{"ns1.example.test"}, from: SearchFromHostname},
	{file: "comments", in: Inputs{Hostname: "pod1"}},
	{file: "comments", in: Inputs{Hostname: "pod1."}, search: []string{""}, from: SearchFromHostname},
	{
		file: "cluster", in: Inputs{Env: map[string]string{"LOCALDOMAIN": "l1.test\tl2.test \nl3.test"}}, servers: "10.96.0.10",
		search: []string{"l1.test", "l2.test"}, from: SearchFromEnv, numbers: [3]int{5, 5, 2}, options: []string{"ndots:5"},
		warnings: []string{"1 LOCALDOMAIN"},
	},
	{file: "comments", in: Inputs{Env: map[string]string{"LOCALDOMAIN": ""}, Hostname: "a.b"}, search: []string{""}, from: SearchFromEnv},
	{file: "comments", in: Inputs{Env: map[string]string{"LOCALDOMAIN": " l1.test"}}, search: []string{"", "l1.test"}, from: SearchFromEnv},
	{
		file: "cluster", in: Inputs{Env: map[string]string{"RES_OPTIONS": "ndots:1 attempts:1 edns0"}}, servers: "10.96.0.10",
		search:  []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "ec2.internal"},
		numbers: [3]int{1, 5, 1}, flags: "edns0", options: []string{"ndots:5", "ndots:1", "attempts:1", "edns0"},
	},
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file+".conf"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func flagWords(c Config) []string {
	var words []string
	for _, f := range glibcFlags {
		if *f.field(&c) && f.word != "no_tld_query" {
			words = append(words, f.word)
		}
	}
	slices.Sort(words)
	return words
}

func TestParseGlibc(t *testing.T) {
	used := map[string]bool{}
	for i, want := range glibcCases {
		used[want.file+".conf"] = true
		t.Run(fmt.Sprintf("%d %s", i, want.file), func(t *testing.T) { want.check(t, ParseGlibc(read(t, want.file), want.in)) })
	}
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".conf") && !used[f.Name()] {
			t.Errorf("testdata/%s belongs to no case", f.Name())
		}
	}
}

func (want glibcCase) check(t *testing.T, got Config) {
	t.Helper()
	if want.servers == "" {
		want.servers = "127.0.0.2"
	}
	if want.numbers == [3]int{} {
		want.numbers = [3]int{1, 5, 2}
	}
	if want.from == "" {
		if want.from = SearchFromNothing; want.search != nil {
			want.from = SearchFromSearch
		}
	}
	var servers []netip.Addr
	for s := range strings.FieldsSeq(want.servers) {
		servers = append(servers, netip.MustParseAddr(s))
	}
	if !slices.Equal(got.Nameservers, servers) {
		t.Errorf("nameservers %v, want %v", got.Nameservers, servers)
	}
	if !slices.Equal(got.Search, want.search) || got.SearchFrom != want.from {
		t.Errorf("search %q from %s, want %q from %s", got.Search, got.SearchFrom, want.search, want.from)
	}
	if numbers := [3]int{got.Ndots, got.TimeoutSeconds, got.Attempts}; numbers != want.numbers {
		t.Errorf("ndots, timeout, attempts %v, want %v", numbers, want.numbers)
	}
	wantFlags := strings.Fields(want.flags)
	slices.Sort(wantFlags)
	if flags := flagWords(got); !slices.Equal(flags, wantFlags) {
		t.Errorf("flags %q, want %q", flags, wantFlags)
	}
	if !slices.Equal(got.Options, want.options) {
		t.Errorf("options %q, want %q", got.Options, want.options)
	}
	if len(got.Warnings) != len(want.warnings) {
		t.Fatalf("%d warnings, want %d: %+v", len(got.Warnings), len(want.warnings), got.Warnings)
	}
	for i, w := range want.warnings {
		line, effect, _ := strings.Cut(w, " ")
		if g := got.Warnings[i]; fmt.Sprint(g.Line) != line || !strings.Contains(g.Effect, effect) || line != "0" && g.Text == "" {
			t.Errorf("warning %d is %+v, want line %s and %q", i, g, line, effect)
		}
	}
}

func TestWarningsAreFitToShow(t *testing.T) {
	c := ParseGlibc("\x1b[31mnameserver 1.2.3.4 "+strings.Repeat("x", 10000)+"\n"+strings.Repeat("bogus\n", 1000), Inputs{})
	if len(c.Warnings) != maxWarnings {
		t.Errorf("%d warnings, want %d", len(c.Warnings), maxWarnings)
	}
	for _, w := range c.Warnings {
		if len(w.Text) > maxText*4+len("…") || strings.ContainsFunc(w.Text, func(r rune) bool { return r < ' ' }) {
			t.Errorf("warning text %q", w.Text)
		}
	}
	if !strings.HasPrefix(c.Warnings[0].Text, `\x1b[31mnameserver`) || !strings.HasSuffix(c.Warnings[0].Text, "…") {
		t.Errorf("text %q", c.Warnings[0].Text)
	}
}

func TestParseKnowsItsDialects(t *testing.T) {
	text := read(t, "cluster")
	got, err := Parse(Glibc, text, Inputs{})
	if err != nil || got.Ndots != 5 {
		t.Errorf("glibc: %+v, %v", got, err)
	}
	for _, libc := range []Libc{"bionic", ""} {
		if c, err := Parse(libc, text, Inputs{}); err == nil || !strings.Contains(err.Error(), "that dialect is not known") || c.Ndots != 0 {
			t.Errorf("%s: %+v, %v", libc, c, err)
		}
	}
}

func TestInetAton(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1": "10.0.0.1", "10.1": "10.0.0.1", "0x7f.1": "127.0.0.1", "127.000.000.001": "127.0.0.1", "123.456": "123.0.1.200",
		"017.1": "15.0.0.1", "4294967295": "255.255.255.255", "0": "0.0.0.0", "1.2.65535": "1.2.255.255", "0XA.0xbC": "10.0.0.188",
		"4294967296": "", "1.2.3.256": "", "1.2.65536": "", "256.1": "", "1.2.3.4.5": "", "1.2.3.4.": "", "": "", ".1": "", "1..2": "",
		"08.1": "", "0x.1": "", "0x": "", "a.1": "", "1.2.3.4x": "", "+1": "", "-1": "", "99999999999999999999": "",
	} {
		addr, rest, ok := InetAton(text)
		if ok != (want != "") || ok && (addr.String() != want || rest != "") {
			t.Errorf("%q: %v %q %v, want %q", text, addr, rest, ok, want)
		}
	}
	if addr, rest, ok := InetAton("1.2.3.4 x"); !ok || addr.String() != "1.2.3.4" || rest != " x" {
		t.Errorf("with a rest: %v %q %v", addr, rest, ok)
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]Version{
		"2.36": {2, 36}, "2.36-9+deb12u14": {2, 36}, "2.35-0ubuntu3.8": {2, 35}, "1.2.5": {1, 2}, "2.28-251.el8_10.2": {2, 28}, "2.40.9000": {2, 40},
	} {
		if got, ok := ParseVersion(text); !ok || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "glibc", "2", "2.", "2.x", ".36", "-1.2", "2.99999999999999999999"} {
		if got, ok := ParseVersion(text); ok {
			t.Errorf("%q: %v, want none", text, got)
		}
	}
	if v := (Version{2, 36}); !v.AtLeast(2, 36) || !v.AtLeast(1, 99) || v.AtLeast(2, 37) || v.AtLeast(3, 0) {
		t.Error("AtLeast compares wrongly")
	}
}

func FuzzParseGlibc(f *testing.F) {
	files, err := filepath.Glob("testdata/*.conf")
	if err != nil || len(files) == 0 {
		f.Fatalf("%d seeds, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), "pod.ns.test", "ndots:3", "l.test")
	}
	f.Fuzz(func(t *testing.T, text, hostname, options, domain string) {
		for _, version := range []string{"", "2.17", "2.36-9+deb12u14", "2.41"} {
			in := Inputs{Hostname: hostname, Version: version, Env: map[string]string{"RES_OPTIONS": options}}
			if len(domain)%2 == 0 {
				in.Env["LOCALDOMAIN"] = domain
			}
			c := ParseGlibc(text, in)
			if len(c.Nameservers) < 1 || len(c.Nameservers) > 3 || c.Ndots < 0 || c.Ndots > 15 || c.TimeoutSeconds > 30 || c.Attempts > 5 {
				t.Errorf("%s: out of bounds: %+v", version, c)
			}
			if len(c.Warnings) > maxWarnings || len(c.Search) > len(text)+len(domain)+len(hostname)+2 {
				t.Errorf("%s: %d warnings, %d search domains", version, len(c.Warnings), len(c.Search))
			}
			for _, w := range c.Warnings {
				if len(w.Text) > 4*maxText+3 || len(w.Effect) > 400 {
					t.Errorf("%s: warning too long: %+v", version, w)
				}
			}
			if strings.Contains(text, "\x00") {
				// The kubelet knows nothing of NUL, at which C stops: an option behind one comes to life with the word before it.
				continue
			}
			// A second parse of what the kubelet would write keeps everything but the option.
			again := ParseGlibc(WithOptions(text, []string{"ndots:2"}), Inputs{Hostname: hostname, Version: version})
			if plain := ParseGlibc(text, Inputs{Hostname: hostname, Version: version}); !slices.Equal(plain.Search, again.Search) ||
				!slices.Equal(plain.Nameservers, again.Nameservers) || plain.Attempts != again.Attempts {
				t.Errorf("%s: WithOptions changed more than ndots: %+v, was %+v", version, again, plain)
			}
		}
	})
}

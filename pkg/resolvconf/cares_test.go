package resolvconf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// caresOld reads as 1.18 does.
var caresOld = Inputs{Version: "1.18.1"}

func withEnv(in Inputs, env map[string]string) Inputs {
	in.Env = env
	return in
}

// caresCases are what c-ares makes of the same files, and of some of its own.
var caresCases = []glibcCase{
	{
		file: "cluster", servers: "10.96.0.10", search: []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "ec2.internal"},
		numbers: [3]int{5, 2, 3}, options: []string{"ndots:5"},
	},
	{
		file: "cluster", in: caresOld, servers: "10.96.0.10",
		search:  []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "ec2.internal"},
		numbers: [3]int{5, 5, 4}, options: []string{"ndots:5"},
	},
	{file: "empty", servers: "127.0.0.1", warnings: []string{"0 no valid nameserver"}},
	{file: "indented", servers: "127.0.0.2 127.0.0.3", search: []string{"a.test"}},
	{file: "comment-behind-search", search: []string{"a.test", "#", "note"}, warnings: []string{`2 takes 2 words from "#"`}},
	{file: "comment-behind-search", in: caresOld, numbers: [3]int{1, 5, 4}, search: []string{"a.test"}},
	{file: "four-nameservers", servers: "127.0.0.2 127.0.0.3 127.0.0.4 127.0.0.5"},
	{file: "crlf", search: []string{"s.test"}, numbers: [3]int{2, 2, 3}, options: []string{"ndots:2"}},
	{file: "domain", search: []string{"b.test"}, from: SearchFromDomain, warnings: []string{"2 only the first domain"}},
	{file: "last-wins", search: []string{"c.test", "d.test"}, warnings: []string{"3 without effect", "4 replaces line 2"}},
	{file: "duplicates", search: []string{"a.test"}, warnings: []string{"2 a.test: c-ares tries a domain once"}},
	{
		file: "caps", numbers: [3]int{99, 99, 99}, options: []string{"ndots:99", "timeout:99", "attempts:99"},
	},
	{
		file: "caps", in: caresOld, numbers: [3]int{99, 5, 4}, options: []string{"ndots:99", "timeout:99", "attempts:99"},
		warnings: []string{"2 timeout:99: ignored", "2 attempts:99: ignored"},
	},
	{
		file: "negative", options: []string{"ndots:-1", "timeout:-1", "attempts:-1"},
		warnings: []string{"2 ndots:-1: ignored", "2 timeout:-1: ignored", "2 attempts:-1: ignored"},
	},
	{
		file: "cluster", in: withEnv(Inputs{}, map[string]string{"LOCALDOMAIN": "l1.test l2.test", "RES_OPTIONS": "ndots:1 attempts:1"}),
		servers: "10.96.0.10", search: []string{"l1.test"}, from: SearchFromEnv, numbers: [3]int{1, 2, 1},
		options: []string{"ndots:5", "ndots:1", "attempts:1"}, warnings: []string{"0 takes one from LOCALDOMAIN"},
	},
	{
		file: "cluster", in: withEnv(caresOld, map[string]string{"LOCALDOMAIN": "l1.test l2.test", "RES_OPTIONS": "ndots:1 retry:1"}),
		servers: "10.96.0.10", search: []string{"l1.test", "l2.test"}, from: SearchFromEnv, numbers: [3]int{1, 5, 1},
		options: []string{"ndots:1", "retry:1", "ndots:5"}, warnings: []string{"1 without effect"},
	},
	{
		file: "cluster", in: withEnv(Inputs{Hostname: "pod.ns.test"}, map[string]string{"LOCALDOMAIN": ""}), servers: "127.0.0.1",
		search: []string{"ns.test"}, from: SearchFromHostname, options: []string{"ndots:5"},
		warnings: []string{"0 drops the whole resolv.conf", "0 no valid nameserver"},
	},
	{
		file: "cares/own", servers: "127.0.0.2 ::1 127.0.0.3 fe80::1%eth0", search: []string{"a.test", "b.test"}, numbers: [3]int{3, 1, 4},
		options: []string{"ndots:3", "retrans:1", "retry:4", "rotate", "usevc", "edns0", "timeout:0", "ndots:x"},
		warnings: []string{
			"3 ignored, c-ares has this server already", "4 site-local", "4 a link-local address needs its interface", "4 not an address",
			"5 A.test: c-ares tries a domain once", "6 rotate: c-ares throws dice", "6 usevc: without effect", "6 edns0: ignored", "6 timeout:0: ignored",
			"6 ndots:x: ignored", "7 ignored: neither", "8 ignored as a whole: c-ares takes no line with tabs", "9 ignored as a whole: c-ares takes values of at most", "10 ignored: there is no value",
			"11 lower case", "12 not a keyword", "13 does not look at it",
		},
	},
	{
		file: "cares/lost", servers: "127.0.0.1", warnings: []string{"2 drops the whole resolv.conf", "0 no valid nameserver"},
	},
	{
		file: "cares/old", in: caresOld, servers: "127.0.0.2 10.1.0.0 127.0.0.9", search: []string{"a.test.long"}, numbers: [3]int{3, 1, 4},
		options: []string{"ndots:", "3", "retrans:700", "retrans:1", "rotatexyz", "edns0"},
		warnings: []string{
			"2 fec0::1: ignored", "2 x: ignored", "3 a.test: dropped, a.test.long begins with it", "5 3: ignored", "5 counts milliseconds", "5 counts milliseconds", "5 edns0: ignored",
		},
	},
	{
		file: "cares/old-lookup", in: caresOld, servers: "127.0.0.1", search: []string{"a.test"}, numbers: [3]int{1, 5, 4},
		warnings: []string{"3 gives up on the whole file", "0 no valid nameserver"},
	},
}

func TestParseCAres(t *testing.T) {
	used := map[string]bool{}
	for _, want := range caresCases {
		used[want.file+".conf"] = true
		if want.numbers == [3]int{} {
			want.numbers = [3]int{1, 2, 3}
		}
		t.Run(want.file+" "+want.in.Version, func(t *testing.T) {
			got := ParseCAres(read(t, want.file), want.in)
			if other, err := Parse(CAres, read(t, want.file), want.in); err != nil || other.Ndots != got.Ndots {
				t.Errorf("Parse: %+v, %v", other, err)
			}
			want.check(t, Config{
				Nameservers: got.Nameservers, Search: got.Search, SearchFrom: got.SearchFrom, Ndots: got.Ndots, TimeoutSeconds: got.TimeoutSeconds,
				Attempts: got.Attempts, Options: got.Options, Warnings: got.Warnings,
			})
		})
	}
	files, err := os.ReadDir(filepath.Join("testdata", "cares"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !used["cares/"+f.Name()] {
			t.Errorf("testdata/cares/%s belongs to no case", f.Name())
		}
	}
}

func TestParseCAresPortsAndLookup(t *testing.T) {
	got := ParseCAres("nameserver 127.0.0.2\nnameserver 127.0.0.3:5353,[::1]:54\nnameserver [127.0.0.4]\nlookup bind file\noptions rotate retrans:1\n", Inputs{})
	if want := []uint16{53, 5353, 54, 53}; !slices.Equal(got.Ports, want) || got.Lookup != "bf" || !got.Rotate || got.TimeoutMillis != 1000 {
		t.Errorf("%+v", got)
	}
	if got := ParseCAres("nameserver 127.0.0.2:53\n", Inputs{}); got.Ports != nil || len(got.Nameservers) != 1 {
		t.Errorf("a port that is implied is kept: %+v", got)
	}
}

func TestCAresLookup(t *testing.T) {
	for words, want := range map[string]string{
		"files dns": "fb", "dns files": "bf", "FILES mdns4_minimal [NOTFOUND=return] Resolve dns": "fb", "mdns": "", "": "", "bind local": "bf",
	} {
		if got := CAresLookup(strings.Fields(words)); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
	for words, want := range map[string]string{
		"files dns": "fb", "db files dns": "bf", "files resolve [!UNAVAIL=return] dns": "fb", "dns,dns files": "bb", "winbind": "", "": "",
	} {
		if got := OldCAresLookup(words, "dr", "f"); got != want {
			t.Errorf("1.18, %q: %q, want %q", words, got, want)
		}
	}
}

func TestCAresAddress(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1": "10.0.0.1", "10.1": "10.1.0.0", "010.001.0.1": "10.1.0.1", "0x7f000001": "127.0.0.1", "0x7F": "127.0.0.0", "10.0.0.0/8": "10.0.0.0",
		"::1": "::1", "::ffff:1.2.3.4": "::ffff:1.2.3.4",
		"256.1": "", "1.2.3.4.5": "", "1..2": "", "": "", ".": "", "0x": "", "0x112233445": "", "10.0.0.0/33": "", "1.2.3.4/": "", "fe80::1%lo": "", "x": "", "+1": "",
	} {
		addr, ok := CAresAddress(text)
		if ok != (want != "") || ok && addr.String() != want {
			t.Errorf("%q: %v %v, want %q", text, addr, ok, want)
		}
	}
}

func FuzzParseCAres(f *testing.F) {
	for _, c := range caresCases {
		data, err := os.ReadFile(filepath.Join("testdata", c.file+".conf"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), "l.test", "ndots:2", c.in.Version)
	}
	f.Fuzz(func(t *testing.T, text, domain, options, version string) {
		c := ParseCAres(text, Inputs{Version: version, Env: map[string]string{"LOCALDOMAIN": domain, "RES_OPTIONS": options}})
		if len(c.Nameservers) == 0 || c.Ports != nil && len(c.Ports) != len(c.Nameservers) || len(c.Warnings) > maxWarnings+1 {
			t.Errorf("%+v", c)
		}
		if c.TimeoutMillis < 0 || c.Attempts < 0 || c.Ndots < 0 || slices.Contains(c.Search, "") && c.SearchFrom != SearchFromHostname {
			t.Errorf("%+v", c)
		}
	})
}

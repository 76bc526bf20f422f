package glibc

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

func TestModules(t *testing.T) {
	now, old := featuresOf("2.36"), featuresOf("2.31")
	text := func(s string) *string { return &s }
	// A module is its name and its actions on success, not found, unavailable, try again: "r" return, "c" continue, "m" merge.
	for _, c := range []struct {
		file *string
		f    features
		want string
	}{
		{nil, now, "files:rccc dns:rccc"},
		{nil, old, "dns:rrcr files:rccc"},
		{text(""), now, "files:rccc dns:rccc"},
		{text("passwd: files\n"), now, "files:rccc dns:rccc"},
		{text("hosts: files dns"), now, "files:rccc dns:rccc"},
		{text("  hosts :\tfiles[NOTFOUND=return]dns\r\n"), now, "files:rrcc dns:rccc"},
		{text("hosts: files mdns4_minimal [NOTFOUND=return] dns myhostname\n"), now, "files:rccc mdns4_minimal:rrcc dns:rccc myhostname:rccc"},
		{text("hosts: dns [!UNAVAIL=return] files\n"), now, "dns:rrcr files:rccc"},
		{text("hosts: dns [ success=merge tryagain = continue ] files\n"), now, "dns:mccc files:rccc"},
		{text("hosts: dns\nhosts: files\n"), now, "files:rccc"},
		{text("hosts:\n"), now, ""},
		{text("#hosts: dns\nhost: dns\nhostsdns\n"), now, "files:rccc dns:rccc"},
		{text("hosts: files dns # note\n"), now, "files:rccc dns:rccc #:rccc! note:rccc!"},
		{text("hosts: files dns # note\n"), old, "files:rccc dns:rccc"},
		{text("hosts: files [x=return] dns\n"), now, "broken"},
		{text("hosts: files [notfound=x] dns\n"), now, "broken"},
		{text("hosts: files [notfound return] dns\n"), now, "broken"},
		{text("hosts: files [notfound=return\n"), now, "broken"},
		{text("hosts: files []dns\n"), now, "broken"},
		{text("passwd: files [x=return]\nhosts: files dns\n"), now, "broken"},
		{text("sudoers: files [x=return]\nhosts: dns\n"), now, "dns:rccc"},
		{text("hosts: files [x=return] dns\n"), old, "dns:rrcr files:rccc"},
	} {
		list, ok := modules(c.file, c.f)
		var words []string
		for _, m := range list {
			word := m.name + ":"
			for _, a := range m.on {
				word += map[action]string{stop: "r", goOn: "c", merge: "m"}[a]
			}
			if m.missing {
				word += "!"
			}
			words = append(words, word)
		}
		got := strings.Join(words, " ")
		if !ok {
			got = "broken"
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", deref(c.file), got, c.want)
		}
	}
}

func deref(s *string) string {
	if s == nil {
		return "no file"
	}
	return *s
}

// TestServices: results follow the real library, tried case by case.
func TestServices(t *testing.T) {
	const found, silent = "- - - - - a:192.0.2.1", "- - - - - drop"
	const pair = "A x.y. 2; AAAA x.y. 2; "
	for _, c := range []struct {
		nsswitch, rule string
		family         resolver.Family
		want           string
	}{
		{"hosts: files dns\n", found, "unspec", "ok 10.0.0.1"},
		{"hosts: files [NOTFOUND=return] dns\n", found, "unspec", "ok 10.0.0.1"},
		{"hosts: dns files\n", "- - - - - nx", "unspec", pair + "ok 10.0.0.1"},
		{"hosts: dns [!UNAVAIL=return] files\n", silent, "unspec", pair + "ok 10.0.0.1 in 1s"},
		{"hosts: dns [!UNAVAIL=return] files\n", "- - - - - nx", "unspec", pair + "EAI_NONAME"},
		{"hosts: dns [NOTFOUND=return] files\n", "- - - - - nodata", "unspec", pair + "EAI_NODATA"},
		{"hosts: dns\n", silent, "unspec", pair + "EAI_AGAIN in 1s"},
		{"hosts: files dns # note\n", found, "unspec", "ok 10.0.0.1"},
		{"hosts: dns # note\n", "- - - - - nx", "unspec", pair + "EAI_SYSTEM"},
		{"hosts: dns # note\n", "- - - - - nx", "inet", "A x.y. 2; EAI_NONAME"},
		{"hosts: dns # note\n", "- - - - - nx", "inet6", "AAAA x.y. 2; EAI_SYSTEM"},
		{"hosts: files [SUCCESS=merge] dns\n", found, "unspec", "EAI_NONAME"},
		{"hosts: files [SUCCESS=merge] dns\n", found, "inet", "A x.y. 2; EAI_NODATA"},
		{"hosts: files [SUCCESS=merge] dns\n", "- - - - - nx", "inet", "A x.y. 2; ok 10.0.0.1"},
		{"hosts: files [SUCCESS=continue] dns\n", found, "unspec", pair + "ok 192.0.2.1"},
		{"hosts: files [SUCCESS=continue] dns\n", "- - - - - nx", "unspec", pair + "EAI_NONAME"},
		{"hosts:\n", found, "unspec", "EAI_SYSTEM"},
		{"hosts:\n", found, "inet", "EAI_NONAME"},
		{"hosts: files [x=return] dns\n", found, "unspec", "EAI_NONAME"},
		{"hosts: files [x=return] dns\n", found, "inet", "EAI_SYSTEM"},
		{"hosts: mdns4_minimal [NOTFOUND=return] dns\n", found, "unspec", pair + "ok 192.0.2.1"},
		{"hosts: resolve [!SUCCESS=return] dns\n", found, "unspec", "EAI_NONAME"},
		{"hosts: resolve [!UNAVAIL=return] files myhostname dns\n", found, "unspec", "ok 10.0.0.1"},
		{"hosts: dns myhostname\n", silent, "unspec", pair + "EAI_NONAME in 1s"},
		{"hosts: dns myhostname\n", silent, "inet", "A x.y. 2; EAI_NONAME in 1s"},
		{"hosts: dns myhostname\n", silent, "inet6", "AAAA x.y. 2; EAI_NONAME in 1s"},
		{"hosts: dns mdns4\n", "- - - - - nodata", "unspec", pair + "EAI_NONAME"},
		{"hosts: dns nosuch\n", "- - - - - nx", "unspec", pair + "EAI_SYSTEM"},
		{"hosts: nosuch [UNAVAIL=return] dns\n", found, "unspec", "EAI_SYSTEM"},
		{"hosts: nosuch dns\n", found, "inet", "A x.y. 2; ok 192.0.2.1"},
	} {
		sys := settings("nameserver 127.0.0.2\noptions timeout:1 attempts:1\n")
		sys.NSSwitch, sys.Hosts = &c.nsswitch, "10.0.0.1 x.y\n"
		t.Run(fmt.Sprint(strings.TrimSpace(c.nsswitch), " ", c.rule, " ", c.family), func(t *testing.T) {
			m := newModel(t, observedBuild, sys, c.rule)
			m.Want(resolver.Request{Host: "x.y", Family: c.family}, c.want)
			if strings.Contains(c.nsswitch, "mdns4_minimal") != strings.Contains(m.Notes(), "\"mdns4_minimal\" is not followed") {
				t.Errorf("notes: %q", m.Notes())
			}
		})
	}
}

// hostsLine writes modules as a hosts line that says every action.
func hostsLine(list []module) string {
	text := "hosts:"
	for _, m := range list {
		text += " " + m.name + " ["
		for name, st := range statusNames {
			for word, act := range actionNames {
				if act == m.on[st] {
					text += name + "=" + word + " "
				}
			}
		}
		text += "]"
	}
	return text + "\n"
}

// FuzzModules: what is read can be written, and is read the same again.
func FuzzModules(f *testing.F) {
	f.Add("passwd: files\nhosts: files mdns4_minimal [NOTFOUND=return] dns # note\n")
	f.Add("hosts: dns [!UNAVAIL=return success=merge tryagain = continue ]files\r\nhosts : files\x00x\n")
	f.Add("hosts: files [x=return] dns\n#hosts: dns\n:hosts:\x0b\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, version := range []string{"2.31", "2.36", "2.41"} {
			feat := featuresOf(version)
			list, ok := modules(&text, feat)
			if !ok {
				if len(list) > 0 || !feat.nssStrict {
					t.Errorf("%s, %q: nothing is asked, or %v", version, text, list)
				}
				continue
			}
			for _, m := range list {
				if m.name == "" || strings.ContainsAny(m.name, cSpace+"[\x00") {
					t.Errorf("%s, %q: a module %q", version, text, m.name)
				}
			}
			written := hostsLine(list)
			again, ok := modules(&written, feat)
			if !ok || !slices.Equal(list, again) {
				t.Errorf("%s, %q: %v is written as %q and read as %v", version, text, list, written, again)
			}
		}
	})
}

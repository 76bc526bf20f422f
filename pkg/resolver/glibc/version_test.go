package glibc

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

func TestFeaturesOf(t *testing.T) {
	all := features{
		nameCheck: true, exactIPv4: true, reload: true, filesFirst: true, nssStrict: true, chainParser: true, separateFlags: true,
		headerOnly: true, sequentialReject: true,
	}
	debian12 := all
	from235 := features{nameCheck: true, exactIPv4: true, reload: true, filesFirst: true, nssStrict: true}
	for version, want := range map[string]features{
		"":                 debian12,
		"unknown":          debian12,
		"2.36-9+deb12u14":  debian12,
		"2.36":             debian12,
		"2.36-21.fc37":     from235,
		"2.36-9+rpi1":      from235,
		"2.36-9":           {nameCheck: true, exactIPv4: true, reload: true, filesFirst: true, nssStrict: true, chainParser: true},
		"2.36-9+deb12u4":   {nameCheck: true, exactIPv4: true, reload: true, filesFirst: true, nssStrict: true, chainParser: true},
		"2.41":             all,
		"2.42-1":           all,
		"3.0":              all,
		"2.17-326.el7_9":   {},
		"2.28-251.el8_10":  {reload: true},
		"2.31-13+deb11u11": {reload: true, nameCheck: true, exactIPv4: true},
		"2.35-0ubuntu3.8":  from235,
	} {
		if got := featuresOf(version); got != want {
			t.Errorf("%q: %+v, want %+v", version, got, want)
		}
	}
}

// TestVersionDeltas runs the same world on versions before and after each difference.
func TestVersionDeltas(t *testing.T) {
	const slow = "nameserver 127.0.0.2\noptions timeout:1 attempts:1\n"
	for _, c := range []struct {
		name, version string
		sys           resolver.System
		rules         []string
		req           resolver.Request
		want          string
	}{
		{"a name that is none", "2.28", settings(slow), nil, host("-foo.bar"), "A -foo.bar. 2; AAAA -foo.bar. 2; EAI_NONAME"},
		{"a name that is none", "2.29", settings(slow), nil, host("-foo.bar"), "EAI_NONAME"},
		{
			"an old name in the answer", "2.28", settings(slow),
			[]string{"* - - - - a:192.0.2.1"},
			host("-foo.bar"),
			"A -foo.bar. 2; AAAA -foo.bar. 2; EAI_NONAME",
		},
		{"an address with a rest", "2.28", settings(slow), nil, host("1.2.3.4 x"), "ok 1.2.3.4"},
		{"an address with a rest", "2.29", settings(slow), nil, host("1.2.3.4 x"), "EAI_NONAME"},
		{"trust-ad", "2.30", settings(slow + "options trust-ad\n"), nil, host("x."), "A x. 2; AAAA x. 2; EAI_NONAME"},
		{"no-aaaa", "2.35", settings(slow + "options no-aaaa\n"), nil, host("x."), "A x. 2; AAAA x. 2; EAI_NONAME"},
		{"no-aaaa", "2.36", settings(slow + "options no-aaaa\n"), nil, host("x."), "A x. 2; EAI_NONAME"},
		{
			"a bare error header", "2.40", settings(slow),
			[]string{"* - - - - refused header"},
			host("x."),
			"A x. 2; AAAA x. 2; EAI_AGAIN in 1s",
		},
		{"a bare error header", "2.41", settings(slow), []string{"* - - - - refused header"}, host("x."), "A x. 2; AAAA x. 2; EAI_AGAIN"},
		{
			"a rejected first half", "2.40", settings(slow + "options single-request\n"),
			[]string{"* A - - - servfail"},
			host("x."),
			"A x. 2; EAI_AGAIN in 1s",
		},
		{
			"a rejected first half", "2.41", settings(slow + "options single-request\n"),
			[]string{"* A - - - servfail"},
			host("x."),
			"A x. 2; EAI_AGAIN",
		},
		{
			"an alias with a strange target", "2.35", settings(slow),
			[]string{"* - - - - cname:*.y.test a:192.0.2.1"},
			host("x."),
			"A x. 2; AAAA x. 2; EAI_SYSTEM",
		},
		{
			"an alias with a strange target", "2.37", settings(slow),
			[]string{"* - - - - cname:*.y.test a:192.0.2.1"},
			host("x."),
			"A x. 2; AAAA x. 2; ok 192.0.2.1",
		},
		{
			"strict-error", "2.40", settings("nameserver 127.0.0.2\nnameserver 127.0.0.3\noptions strict-error\n"),
			[]string{"* AAAA 2 - - servfail", "* - - - - a:192.0.2.1 aaaa:2001:db8::1"},
			host("x."), "A x. 2; AAAA x. 2; ok 192.0.2.1",
		},
		{
			"strict-error", "2.41", settings("nameserver 127.0.0.2\nnameserver 127.0.0.3\noptions strict-error\n"),
			[]string{"* AAAA 2 - - servfail", "* - - - - a:192.0.2.1 aaaa:2001:db8::1"},
			host("x."),
			"A x. 2; AAAA x. 2; A x. 3; AAAA x. 3; ok 192.0.2.1 2001:db8::1",
		},
		{
			"big answers", "2.35", settings(slow),
			[]string{"* A - - - pad:26", "* - - - - nodata"},
			host("x.y."),
			"A x.y. 2; AAAA x.y. 2; A x.y. 2; AAAA x.y. 2; ok" + addresses(26),
		},
		{
			"big answers", "2.35", settings(slow),
			[]string{"* A - - - pad:25", "* - - - - nodata"},
			host("x.y."),
			"A x.y. 2; AAAA x.y. 2; ok" + addresses(25),
		},
	} {
		t.Run(c.name+" in "+c.version, func(t *testing.T) { newModel(t, c.version, c.sys, c.rules...).Want(c.req, c.want) })
	}
}

func addresses(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" 10.9.0." + itoa(i))
	}
	return b.String()
}

func itoa(i int) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return itoa(i/10) + itoa(i%10)
}

// TestDefaultOrder: without nsswitch.conf DNS came first before 2.35.
func TestDefaultOrder(t *testing.T) {
	sys := settings("nameserver 127.0.0.2\n")
	sys.NSSwitch, sys.Hosts = nil, "10.0.0.1 x\n"
	newModel(t, "2.35", sys).Want(host("x"), "ok 10.0.0.1")
	newModel(t, "2.34", sys).Want(host("x"), "A x. 2; AAAA x. 2; EAI_NONAME")
	sys.ResolvConf = "nameserver 127.0.0.9\n"
	newModel(t, "2.34", sys).Want(host("x"), "A x. 9; AAAA x. 9; A x. 9; AAAA x. 9; ok 10.0.0.1")
}

// TestReloadAfterFallback: before bug 31476 was fixed, the fallback to sequential queries ended the automatic reload.
func TestReloadAfterFallback(t *testing.T) {
	for version, want := range map[string]string{
		"2.39": "A y. 2; A y. 2@1s; EAI_AGAIN in 2s",
		"2.40": "A y. 3; AAAA y. 3; ok 192.0.2.1",
	} {
		m := newModel(t, version, settings("nameserver 127.0.0.2\noptions timeout:1\n"),
			"x AAAA 2 - - drop", "x A 2 - - a:192.0.2.1", "- - 2 - - drop", "- - 3 - - a:192.0.2.1")
		m.Want(host("x."), "A x. 2; AAAA x. 2; A x. 2@1s; AAAA x. 2@1s; A x. 2@2s; AAAA x. 2@2s; ok 192.0.2.1 in 3s")
		m.r.SetSystem(settings("nameserver 127.0.0.3\n"))
		m.Want(host("y."), want)
	}
}

func TestReload(t *testing.T) {
	rules := []string{"- - - - - a:192.0.2.1"}
	change := func(m *model, text string) { m.r.SetSystem(settings(text)) }
	m := newModel(t, "2.36", settings("nameserver 127.0.0.2\n"), rules...)
	m.Want(host("x."), "A x. 2; AAAA x. 2; ok 192.0.2.1")
	change(m, "nameserver 127.0.0.3\noptions no-reload\n")
	m.Want(host("x."), "A x. 3; AAAA x. 3; ok 192.0.2.1")
	change(m, "nameserver 127.0.0.4\n")
	m.Want(host("x."), "A x. 3; AAAA x. 3; ok 192.0.2.1")
	old := newModel(t, "2.25", settings("nameserver 127.0.0.2\n"), rules...)
	old.Want(host("x."), "A x. 2; AAAA x. 2; ok 192.0.2.1")
	change(old, "nameserver 127.0.0.3\n")
	old.Want(host("x."), "A x. 2; AAAA x. 2; ok 192.0.2.1")
	// The environment counts when the file is read, not when it changes itself.
	env := settings("nameserver 127.0.0.2\n")
	m = newModel(t, "2.36", env, rules...)
	m.Want(host("x."), "A x. 2; AAAA x. 2; ok 192.0.2.1")
	env.Env = map[string]string{"RES_OPTIONS": "no-aaaa"}
	m.r.SetSystem(env)
	m.Want(host("x."), "A x. 2; AAAA x. 2; ok 192.0.2.1")
	env.ResolvConf += "# changed\n"
	m.r.SetSystem(env)
	m.Want(host("x."), "A x. 2; ok 192.0.2.1")
	// A file that is gone reads like an empty one.
	env.NoResolvConf = true
	m.r.SetSystem(env)
	if c := m.r.Config(); c.Nameservers[0].String() != "127.0.0.1" {
		t.Errorf("without a file: %v", c.Nameservers)
	}
}

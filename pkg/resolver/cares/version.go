package cares

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"

// features are the differences between versions that change packets or results.
type features struct {
	// old is the code before 1.20: a socket for each server, servers by turns, 5 s and four tries. Followed as 1.18.
	old bool
	// edns: queries carry an OPT record (1.22).
	edns bool
	// cookies: the first query to a server carries a DNS cookie (1.33).
	cookies bool
}

// Source: c-ares's release notes; 1.18.1 and 1.34.8 were observed. What changed in between and is not listed is followed as
// in 1.34.
var deltas = []struct {
	minor int
	set   func(*features)
}{
	{20, func(f *features) { f.old = false }},
	{22, func(f *features) { f.edns = true }},
	{33, func(f *features) { f.cookies = true }},
}

// featuresOf returns the differences of a version ("1.18.1"). An unknown one is taken as the newest observed.
func featuresOf(version string) features {
	v, ok := resolvconf.ParseVersion(version)
	if !ok {
		v = resolvconf.AssumedCAres
	}
	f := features{old: true}
	for _, d := range deltas {
		if v.AtLeast(1, d.minor) {
			d.set(&f)
		}
	}
	return f
}

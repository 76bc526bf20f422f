package golang

import (
	"strconv"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

// features are the differences between releases that change packets or results, beside what resolvconf.ParseGo does with
// resolv.conf.
type features struct {
	// edns: queries carry an OPT record (1.19, release notes).
	edns bool
	// nssReload: nsswitch.conf is read again when it changed (1.20).
	nssReload bool
	// canonicalHosts: the first name of a line of /etc/hosts is made a domain name, which fails when it is too long (1.20).
	canonicalHosts bool
	// filesNotFound: a name that is not in /etc/hosts is an error where that is all there is; before, it was neither an address nor
	// an error (1.20).
	filesNotFound bool
	// ownOrder: a program that cannot use libc makes what it can of an unusual nsswitch.conf or resolv.conf; before, whatever
	// would have gone to libc was looked for in files, then in DNS (1.21).
	ownOrder bool
	// zoneNotEmpty: "::1%" is no address (1.21).
	zoneNotEmpty bool
	// ednsSetting: GODEBUG=netedns0=0 works (1.21.12, 1.22.5, 1.23).
	ednsSetting bool
	// extendedRcode: the bits of the OPT record belong to the rcode (1.22).
	extendedRcode bool
	// onionPerName: .onion keeps only candidates that end so from being asked for; before, it did so for the name as a whole, and
	// for no candidate (1.22).
	onionPerName bool
	// localIsGo: names in .local are left to libc only where nsswitch.conf has mdns; before, always (1.23).
	localIsGo bool
	// truncatedTCP: a reply over TCP counts although it has TC set (1.23, issue 64896).
	truncatedTCP bool
	// extraNotLame: a reply with any additional record, such as OPT, is never lame (1.23).
	extraNotLame bool
}

// delta says in which release a difference appeared.
type delta struct {
	minor int
	set   func(*features)
}

// Sources: the package net of Go 1.19.8, 1.20, 1.21.13, 1.22.12, 1.23.12, 1.24.9 and 1.26.8, compared; all but 1.24 were run by
// test/conformance, too. An empty host, for which LookupIP returned an invalid address before 1.20, is an error here.
var deltas = []delta{
	{19, func(f *features) { f.edns = true }},
	{20, func(f *features) { f.nssReload, f.canonicalHosts, f.filesNotFound = true, true, true }},
	{21, func(f *features) { f.ownOrder, f.zoneNotEmpty = true, true }},
	{22, func(f *features) { f.onionPerName, f.extendedRcode = true, true }},
	{23, func(f *features) { f.localIsGo, f.truncatedTCP, f.extraNotLame, f.ednsSetting = true, true, true, true }},
}

// ednsSettingSince are the backports of GODEBUG=netedns0: patch release by minor one (doc/godebug.md).
var ednsSettingSince = map[int]int{21: 12, 22: 5}

// featuresOf returns the differences of a release ("1.21.13"); of the one observed when it is unknown.
func featuresOf(version string) features {
	v, ok := resolvconf.ParseVersion(version)
	if !ok {
		v = resolvconf.AssumedGo
	}
	var f features
	for _, d := range deltas {
		if v.AtLeast(1, d.minor) {
			d.set(&f)
		}
	}
	if since, backported := ednsSettingSince[v.Minor]; ok && backported && v.Major == 1 {
		f.ednsSetting = patchOf(version) >= since
	}
	return f
}

// patchOf returns the third number of a version, 0 without one.
func patchOf(version string) int {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 3 {
		return 0
	}
	digits := strings.IndexFunc(parts[2], func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(parts[2])
	}
	patch, err := strconv.Atoi(parts[2][:digits])
	if err != nil {
		return 0
	}
	return patch
}

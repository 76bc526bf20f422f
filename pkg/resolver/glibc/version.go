package glibc

import (
	"strconv"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

// features are the differences between versions that change packets or results.
type features struct {
	// nameCheck: names that are no host names are never asked for (2.29).
	nameCheck bool
	// exactIPv4: an IPv4 address with something behind it is no address (2.29).
	exactIPv4 bool
	// reload: resolv.conf is read again when it changed (2.26).
	reload bool
	// filesFirst: without nsswitch.conf the order is `files dns`; before it was `dns [!UNAVAIL=return] files` (2.35).
	filesFirst bool
	// nssStrict: a broken line makes nsswitch.conf unusable, and comments behind a value are not cut off (2.33).
	nssStrict bool
	// chainParser: the parser of replies that follows the CNAME chain and skips strange names (2.37; all of Debian 12).
	chainParser bool
	// separateFlags: the fallback to sequential queries is not kept in _res.options, so that it does not end the automatic
	// reload (2.40, bug 31476; Debian 12).
	separateFlags bool
	// headerOnly: an error reply of a bare header counts as a reply (2.41, bug 31890; Debian 12).
	headerOnly bool
	// sequentialReject: in sequential mode a rejected first reply goes on to the next server at once (2.41, bug 30081;
	// Debian 12).
	sequentialReject bool
}

// delta says in which upstream version a difference appeared, and whether Debian 12 had it before: from which revision on
// (2.36-9+deb12uN), with 0 for those without "+deb12u".
type delta struct {
	minor  int
	debian bool
	deb12u int
	set    func(*features)
}

// Upstream versions are from glibc's history; Debian's are from its changelog and from the branch that it follows, and its
// deb12u14 was tried. Other distributions carry some of these changes, too; they are followed as their upstream version.
var deltas = []delta{
	{minor: 26, set: func(f *features) { f.reload = true }},
	{minor: 29, set: func(f *features) { f.nameCheck, f.exactIPv4 = true, true }},
	{minor: 33, set: func(f *features) { f.nssStrict = true }},
	{minor: 35, set: func(f *features) { f.filesFirst = true }},
	{minor: 37, debian: true, set: func(f *features) { f.chainParser = true }},
	{minor: 40, debian: true, deb12u: 9, set: func(f *features) { f.separateFlags = true }},
	{minor: 41, debian: true, deb12u: 9, set: func(f *features) { f.headerOnly, f.sequentialReject = true, true }},
}

// observedBuild is followed when the version is unknown. So it is for 2.36 without a build: Debian 12 is where that is met.
const observedBuild = "2.36-9+deb12u14"

// featuresOf returns the differences of a version ("2.31") or of a distribution's build ("2.36-9+deb12u14").
func featuresOf(version string) features {
	v, ok := resolvconf.ParseVersion(version)
	if !ok || version == "2.36" {
		return featuresOf(observedBuild)
	}
	revision, debian := debian12(version)
	var f features
	for _, d := range deltas {
		if v.AtLeast(2, d.minor) || d.debian && debian && revision >= d.deb12u {
			d.set(&f)
		}
	}
	return f
}

// debian12 returns N of a build "2.36-9+deb12uN", 0 for "2.36-9" itself; ok is false for every other build.
func debian12(build string) (revision int, ok bool) {
	rest, ok := strings.CutPrefix(build, "2.36-9")
	if !ok || rest == "" {
		return 0, ok
	}
	if rest, ok = strings.CutPrefix(rest, "+deb12u"); !ok {
		return 0, false
	}
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	revision, err := strconv.Atoi(rest[:end])
	return revision, err == nil
}

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
	// chainParser: the parser of replies that follows the CNAME chain and skips strange names (2.37; Debian 12).
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

// delta says in which upstream version a difference appeared, and from which Debian 12 revision (2.36-9+deb12uN) on it was
// there before; 0 means never.
type delta struct {
	minor  int
	deb12u int
	set    func(*features)
}

// The first Debian 12 revisions are those that resolvers.md names; they are not each tried here, deb12u14 is.
var deltas = []delta{
	{26, 0, func(f *features) { f.reload = true }},
	{29, 0, func(f *features) { f.nameCheck, f.exactIPv4 = true, true }},
	{33, 0, func(f *features) { f.nssStrict = true }},
	{35, 0, func(f *features) { f.filesFirst = true }},
	{37, 1, func(f *features) { f.chainParser = true }},
	{40, 9, func(f *features) { f.separateFlags = true }},
	{41, 9, func(f *features) { f.headerOnly, f.sequentialReject = true, true }},
}

// observedBuild is followed when the version is unknown.
const observedBuild = "2.36-9+deb12u14"

// featuresOf returns the differences of a version ("2.31") or of a distribution's build ("2.36-9+deb12u14").
func featuresOf(version string) features {
	v, ok := resolvconf.ParseVersion(version)
	if !ok {
		return featuresOf(observedBuild)
	}
	var f features
	for _, d := range deltas {
		if v.AtLeast(2, d.minor) || d.deb12u > 0 && debian12Revision(version) >= d.deb12u {
			d.set(&f)
		}
	}
	return f
}

// debian12Revision returns N of a build "2.36-9+deb12uN", else 0. Debian's 2.36-9 itself came before all backports.
func debian12Revision(build string) int {
	if !strings.HasPrefix(build, "2.36-") {
		return 0
	}
	_, rest, found := strings.Cut(build, "+deb12u")
	if !found {
		return 0
	}
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(rest[:end])
	if err != nil {
		return 0
	}
	return n
}

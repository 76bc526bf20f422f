package musl

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"

// features are the differences between versions that change packets or results.
type features struct {
	// bothHalves: a missing or negative half of a pair decides for the whole pair; before, any address was good enough (1.2.1,
	// commit 5cf1ac24).
	bothHalves bool
	// firstHostsName: the canonical name is that of the first line of /etc/hosts that matches, also when its address is of the
	// other family; before, that of the last one with the right family (1.2.2).
	firstHostsName bool
	// tcp: truncated replies are asked for again over TCP; before, TC is not looked at (1.2.4).
	tcp bool
	// noData: names without an address of the family asked for are EAI_NODATA; before, EAI_NONAME (1.2.4).
	noData bool
	// skipUnsendable: a candidate that cannot be put into a query is skipped; before, it ends the lookup. Names that end in
	// two dots count as such; before, they are sent as a malformed message (1.2.4).
	skipUnsendable bool
	// ownType: only records of the type asked for count, and the AAAA reply is read first; before, all addresses of both
	// replies count, A first (1.2.4).
	ownType bool
	// buffer is the size in bytes of the buffer for one reply (512; 1.2.4: 768; 1.2.5: 4800).
	buffer int
	// oldParser: a reply whose questions and answers are more than 64 together is not read at all, nor one with a pointer that
	// leads behind the beginning of the message (until 1.2.4).
	oldParser bool
}

// delta says in which version a difference appeared.
type delta struct {
	minor, patch int
	set          func(*features)
}

// Source: the commits of src/network between the tags; 1.1.24, 1.2.3 and 1.2.5 were observed. All differences are of 1.2.
var deltas = []delta{
	{2, 1, func(f *features) { f.bothHalves = true }},
	{2, 2, func(f *features) { f.firstHostsName = true }},
	{2, 4, func(f *features) {
		f.tcp, f.noData, f.skipUnsendable, f.ownType, f.buffer = true, true, true, true, 768
	}},
	{2, 5, func(f *features) { f.buffer, f.oldParser = 4800, false }},
}

// featuresOf returns the differences of a version ("1.2.3") or of a distribution's build ("1.2.3-r5"). What distributions
// carried back is not known here.
func featuresOf(version string) features {
	v, ok := resolvconf.ParseMuslVersion(version)
	if !ok {
		v = resolvconf.AssumedMusl
	}
	f := features{buffer: 512, oldParser: true}
	for _, d := range deltas {
		if v.AtLeast(1, d.minor, d.patch) {
			d.set(&f)
		}
	}
	return f
}

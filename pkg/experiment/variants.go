package experiment

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Bounds of ndots: glibc caps it at 15 (resolv/resolv.h RES_MAXNDOTS), and 0 would send names without a dot out of the cluster
// first.
const (
	minNdots = 1
	maxNdots = 15
)

// customaryNdots is what most advice names. Of values that the names in use cannot tell apart it does the most for other names.
const customaryNdots = 2

// Ndots is the variant that sets ndots to n.
func Ndots(n int) probe.Variant {
	word := "ndots:" + strconv.Itoa(n)
	return probe.Variant{Name: word, Options: []string{word}}
}

// NdotsOf returns the value that v sets ndots to, and false when v sets anything else.
func NdotsOf(v probe.Variant) (int, bool) {
	if !v.OptionsOnly() || len(v.Options) != 1 {
		return 0, false
	}
	value, ok := strings.CutPrefix(v.Options[0], "ndots:")
	n, err := strconv.Atoi(value)
	return n, ok && err == nil && n >= minNdots && n <= maxNdots
}

// Variants returns the variants worth trying for hosts, by their resolutions under the settings as they are: each value of
// ndots that changes the order in which a name in use is tried, then the final dot, then a shorter search list, then what could
// help against replies that are missing. Also are the other names in use, and repeated are further resolutions of the hosts, which
// may have met what their first ones did not.
//
// There are none when nothing can be gained. Options that the libc would ignore are left out; ignored says which, in a phrase.
func Variants(s probe.Settings, hosts, also, repeated []probe.Resolution) (variants []probe.Variant, ignored string) {
	lower, higher := false, false
	for _, r := range hosts {
		lower, higher = lower || walked(r), higher || asIsInVain(r)
	}
	for _, n := range ndotsValues(s, hosts, also) {
		if n < s.Ndots && lower || n > s.Ndots && higher {
			variants = append(variants, Ndots(n))
		}
	}
	if lower {
		variants = append(variants, probe.Variant{Name: probe.VariantDot, TrailingDot: true})
	}
	variants = append(variants, shorter(s, hosts)...)
	against, ignored := againstTrouble(s, slices.Concat(hosts, repeated))
	return append(variants, against...), ignored
}

// walked says whether another order of names could help r: search domains were asked before the host itself, and the host
// exists, or what a search domain did may have kept r from it.
func walked(r probe.Resolution) bool {
	inVain, answered, itself := 0, false, false
	for i := range r.Attempts {
		a := &r.Attempts[i]
		answered = answered || anyReply(a)
		itself = itself || isHost(a.Name, r.Host) && len(a.Queries) > 0
		switch search := a.Origin == probe.OriginSearch && !isHost(a.Name, r.Host); {
		case a.Decided && search && r.Outcome == probe.OK:
			return false
		case search && len(a.Queries) > 0:
			inVain++
		}
	}
	// When every name is answered NXDOMAIN, their order changes nothing. Where the libc stopped before it came to the host itself (musl
	// does at the first NODATA), it may.
	denied := r.Outcome == probe.NXDomain || r.Outcome == probe.NoData
	return inVain > 0 && answered && (!denied || !itself)
}

// isHost says whether name is the host itself: also the root as a search domain leads there.
func isHost(name, host string) bool {
	return strings.EqualFold(strings.TrimSuffix(name, "."), strings.TrimSuffix(host, "."))
}

// asIsInVain says whether r tried the host itself first, and then a search domain had it, or may have it: musl does not go on to the
// search list.
func asIsInVain(r probe.Resolution) bool {
	if r.Libc == probe.Musl && r.Outcome == probe.NXDomain && len(r.Attempts) == 1 && !strings.HasSuffix(r.Host, ".") {
		return r.Attempts[0].Origin == probe.OriginAsIs
	}
	if r.Outcome != probe.OK || len(r.Attempts) < 2 || r.Attempts[0].Origin != probe.OriginAsIs {
		return false
	}
	for _, a := range r.Attempts {
		if a.Decided {
			return a.Origin == probe.OriginSearch
		}
	}
	return false
}

func anyReply(a *probe.Attempt) bool {
	for _, q := range a.Queries {
		if q.Rcode != "" {
			return true
		}
	}
	return false
}

// ndotsValues returns one value for each set of values that the names in use cannot tell apart, without the set of the value
// in force, the largest first.
func ndotsValues(s probe.Settings, hosts, also []probe.Resolution) []int {
	if len(s.Search) == 0 {
		return nil
	}
	// A name with d dots is tried as it is first from ndots d downwards, so d and d+1 differ.
	border := map[int]bool{}
	for _, list := range [][]probe.Resolution{hosts, also} {
		for _, r := range list {
			if len(r.Attempts) > 0 && !strings.HasSuffix(r.Host, ".") {
				border[strings.Count(r.Host, ".")] = true
			}
		}
	}
	var values []int
	for hi := maxNdots; hi >= minNdots; {
		lo := hi
		for lo > minNdots && !border[lo-1] {
			lo--
		}
		if s.Ndots < lo || s.Ndots > hi {
			values = append(values, representative(lo, hi, s, hosts))
		}
		hi = lo - 1
	}
	return values
}

// representative returns the value of lo to hi to propose: the smallest change, but the customary value where it is among
// them. Names that are meant for the cluster gain nothing from that one, and on musl it breaks some of them, since musl
// never searches for a host that has enough dots.
func representative(lo, hi int, s probe.Settings, hosts []probe.Resolution) int {
	if s.Ndots < lo {
		return lo
	}
	if lo > customaryNdots || hi < customaryNdots {
		return hi
	}
	zone := probe.ClusterZone(s.Search)
	outside := false
	for _, r := range hosts {
		if r.Libc == probe.Musl {
			return hi
		}
		outside = outside || !probe.InZone(r.Host, zone)
	}
	if !outside {
		return hi
	}
	return customaryNdots
}

package patch

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/experiment"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// The values of dnsPolicy that a patch sets (k8s.io/api core/v1 DNSPolicy).
const (
	PolicyNone         = "None"
	PolicyClusterFirst = "ClusterFirst"
	PolicyHostNet      = "ClusterFirstWithHostNet"
)

// Limits of a pod's dnsConfig (k8s.io/kubernetes pkg/apis/core/validation MaxDNSNameservers, MaxDNSSearchPaths, MaxDNSSearchListChars).
const (
	maxNameservers = 3
	maxSearches    = 32
	maxSearchChars = 2048
)

// Change is a change of a workload's DNS settings.
type Change struct {
	// Variant is the settings as they would be then: what has to be tried before the change is proposed.
	Variant probe.Variant
	// Policy is the new dnsPolicy, empty when it stays. With PolicyNone the lists are all that the pod gets, so they are complete;
	// otherwise Options are those to set, and the other lists stay as they are.
	Policy      string
	Nameservers []string
	Searches    []string
	Options     []Option

	// Class is the finding that it is for, empty for one that saves queries.
	Class string
	// Replaces are search domains whose answers are not wanted: another answer in their place is the purpose of the change.
	Replaces []string
	// Unseen says in a sentence why a few tries cannot show the gain; empty where they can.
	Unseen string
	// Caveats are sentences about what it does not do, or costs.
	Caveats []string
}

// Ndots is the change that sets ndots.
func Ndots(n int) Change {
	value := strconv.Itoa(n)
	return Change{Variant: experiment.Ndots(n), Options: []Option{{Name: ndotsOption, Value: &value}}}
}

// setting is the change that sets resolv.conf options.
func setting(words ...string) Change {
	return Change{Variant: experiment.OptionVariant(words...), Options: asOptions(words)}
}

// asOptions returns resolv.conf option words as entries of a dnsConfig.
func asOptions(words []string) []Option {
	out := []Option{}
	for _, w := range words {
		name, value, has := strings.Cut(w, ":")
		o := Option{Name: name}
		if has {
			o.Value = &value
		}
		out = append(out, o)
	}
	return out
}

// possible returns nil when the API server can accept the lists of c, else why it cannot.
func (c Change) possible() error {
	if c.Policy != PolicyNone {
		return nil
	}
	switch n := len(c.Nameservers); {
	case n == 0:
		return fmt.Errorf("dnsPolicy None needs a nameserver")
	case n > maxNameservers:
		return fmt.Errorf("%d nameservers: at most %d are allowed", n, maxNameservers)
	case len(c.Searches) > maxSearches:
		return fmt.Errorf("%d search domains: at most %d are allowed", len(c.Searches), maxSearches)
	case len(strings.Join(c.Searches, " ")) > maxSearchChars:
		return fmt.Errorf("a search list of %d characters: at most %d are allowed", len(strings.Join(c.Searches, " ")), maxSearchChars)
	}
	for _, s := range c.Nameservers {
		if _, err := netip.ParseAddr(s); err != nil {
			return fmt.Errorf("nameserver %q is no address", s)
		}
	}
	for _, s := range c.Searches {
		if !searchDomain(s) {
			return fmt.Errorf("search domain %q is none that the API server accepts", s)
		}
	}
	return nil
}

// searchDomain says whether s is a search domain that every API server accepts: an RFC 1123 subdomain, a final dot allowed. Newer ones
// also take a single dot and underscores (KEP-4427).
func searchDomain(s string) bool {
	s = strings.TrimSuffix(s, ".")
	if !objectName(s) {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// replaced says whether the answer of r came from a search domain whose answers are not wanted.
func (c Change) replaced(r probe.Resolution) bool {
	decided := strings.ToLower(strings.TrimSuffix(experiment.DecidedName(r), "."))
	host := strings.ToLower(strings.TrimSuffix(r.Host, "."))
	return decided != "" && slices.ContainsFunc(c.Replaces, func(domain string) bool {
		return decided == host+"."+strings.ToLower(strings.Trim(domain, "."))
	})
}

// wanted says whether after is another answer than before, and a better one: there is one now, or it does not come from where it should
// not.
func (c Change) wanted(before, after probe.Resolution) bool {
	return after.Outcome == probe.OK && !experiment.Same(before, after) && (before.Outcome != probe.OK || c.replaced(before))
}

// keeps says whether after is as good as before or better. A name that failed may fail in another way.
func (c Change) keeps(before, after probe.Resolution) bool {
	return after.Outcome != "" && (experiment.Same(before, after) || c.wanted(before, after) || before.Outcome != probe.OK && after.Outcome != probe.OK)
}

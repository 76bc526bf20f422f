package caller

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Mark says how a statement is known.
type Mark string

// How a statement is known.
const (
	// Observed: the program was run and its packets were recorded.
	Observed Mark = "observed"
	// Documented: its source or its manual says so, and nobody looked at packets.
	Documented Mark = "documented"
)

// Statement is one thing that a caller does.
type Statement struct {
	Mark Mark
	Text string
	// Source is the version that was run, or the file or page that says so.
	Source string
}

// Walk names who decides about candidates, servers and retries.
type Walk string

// The walks.
const (
	// WalkLibc is the walk of the libc, Go's or c-ares's own resolver.
	WalkLibc Walk = ""
	// WalkQuery is the query interface of c-ares below its search: one name as it is.
	WalkQuery Walk = "c-ares query"
	// WalkDig, WalkDigSearch and WalkBusybox are the tools' own.
	WalkDig       Walk = "dig"
	WalkDigSearch Walk = "dig +search"
	WalkBusybox   Walk = "busybox nslookup"
)

// The names that stand where a libc's does for tools that call none.
const (
	Dig     probe.Libc = "dig"
	Busybox probe.Libc = "busybox"
)

// When says whether a step is taken.
type When string

// When a step is taken.
const (
	Always When = "always"
	// IfNone: no step before it found an address.
	IfNone When = "if no address was found"
	// IfAnswered: the lookup of addresses ended with an answer, be it that there are none (grpc-go's handleDNSError lets others end it).
	IfAnswered When = "if the lookup of addresses did not fail for now"
)

// Step is one call of the resolver.
type Step struct {
	// Family is what a lookup of addresses asks for.
	Family resolver.Family
	// Record is set for a lookup of other records, of the name Prefix and the host. It finds no addresses.
	Record probe.QueryType
	Prefix string
	When   When
}

// Caller is a program or runtime that looks hosts up.
type Caller struct {
	// Word names it on the command line and in JSON.
	Word string
	// What says which function of which program that is.
	What string
	// Libc is whose resolver it calls; empty for the libc of the target.
	Libc probe.Libc
	Walk Walk
	// AddrConfig and CanonName are AI_ADDRCONFIG and AI_CANONNAME.
	AddrConfig, CanonName bool
	// OnlyIPv4Without leaves IPv6 out where the pod has no IPv6 address at all, on no interface.
	OnlyIPv4Without bool
	// SmallLetters: the host is asked for in small letters, whatever case it is given in.
	SmallLetters bool
	// Steps are the calls, in order. A caller of both families that is asked for one type only makes one call for that type.
	Steps []Step
	// Search tells whether the search list counts.
	Search bool
	// Within bounds all steps together; 0 for no bound of its own.
	Within time.Duration
	// Statements are what is known, and Missing what is known and not followed.
	Statements []Statement
	Missing    []string
	// RefuseLiterals and RefuseNonASCII say why addresses and hosts outside of ASCII are an error: following them would be a guess. Empty
	// where they are followed.
	RefuseLiterals, RefuseNonASCII string
}

// All returns every caller, in the order of help.
func All() []Caller { return slices.Clone(callers) }

// Of returns the caller with this word.
func Of(word string) (Caller, bool) {
	for _, c := range callers {
		if c.Word == word {
			return c, true
		}
	}
	return Caller{}, false
}

// Words lists the words of all callers.
func Words() []string {
	var words []string
	for _, c := range callers {
		words = append(words, c.Word)
	}
	return words
}

// Note is the sentence by which a trace says which path it follows.
func (c *Caller) Note() string {
	text := "follows " + c.Word + ": " + c.What
	if len(c.Missing) > 0 {
		text += "; not followed: " + strings.Join(c.Missing, "; ")
	}
	return text
}

// For returns the steps for these types (empty for those that the caller asks for by itself), in a pod with these addresses (nil
// for unknown ones).
func (c *Caller) For(types []probe.QueryType, hasIPv6, known bool) []Step {
	family := resolver.Unspec
	if len(types) == 1 {
		family = map[probe.QueryType]resolver.Family{probe.TypeA: resolver.Inet, probe.TypeAAAA: resolver.Inet6}[types[0]]
	}
	var steps []Step
	asked := false
	for _, s := range c.Steps {
		switch {
		case s.Record != "":
		case family != resolver.Unspec && asked:
			continue
		case family != resolver.Unspec:
			s.Family, s.When, asked = family, Always, true
		case c.OnlyIPv4Without && known && !hasIPv6:
			s.Family = resolver.Inet
		}
		steps = append(steps, s)
	}
	return steps
}

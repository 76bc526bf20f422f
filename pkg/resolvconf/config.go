// Package resolvconf turns the text of a resolv.conf into the configuration a given libc makes of it.
//
// It never fails: what a libc ignores is ignored here too, and becomes a Warning with its line number. It knows nothing
// about files, sockets or Kubernetes.
package resolvconf

import "net/netip"

// Config is what one libc makes of a resolv.conf and the environment.
type Config struct {
	// Nameservers are the servers in use, in order, after the libc's cap. Port 53 is implied; a zone is kept.
	Nameservers []netip.Addr
	// Ports are the ports of Nameservers where one of them has its own, which only c-ares knows; nil when all listen on 53.
	Ports []uint16
	// Search is the search list in use, in order, as written (no trailing dot added or removed).
	Search []string
	// SearchFrom says where Search came from.
	SearchFrom SearchSource
	// Ndots is the number of dots from which a host is tried as it is first.
	Ndots int
	// TimeoutSeconds is the libc's `timeout`, after caps.
	TimeoutSeconds int
	// TimeoutMillis is the same in milliseconds for c-ares, whose older versions count in them; 0 for other libcs.
	TimeoutMillis int
	// Attempts is the libc's `attempts`, after caps. glibc sends nothing at all when it is 0 or less.
	Attempts int

	Rotate              bool
	SingleRequest       bool
	SingleRequestReopen bool
	UseVC               bool
	EDNS0               bool
	TrustAD             bool
	NoAAAA              bool
	NoTLDQuery          bool
	NoReload            bool
	StrictError         bool

	// Lookup is the order of c-ares's `lookup` line: "b" is DNS, "f" the hosts file. Empty without such a line. Lost tells that
	// c-ares drops what it read, of nsswitch.conf too.
	Lookup string
	Lost   bool

	// Options are all option words as written, in order of appearance, RES_OPTIONS included.
	Options []string
	// Warnings say what this libc makes of odd lines.
	Warnings []Warning
}

// SearchSource says which input decided the search list.
type SearchSource string

// The inputs that can decide a search list.
const (
	SearchFromSearch   SearchSource = "search"
	SearchFromDomain   SearchSource = "domain"
	SearchFromHostname SearchSource = "hostname"
	SearchFromEnv      SearchSource = "LOCALDOMAIN"
	SearchFromNothing  SearchSource = "none"
)

// Warning tells what a libc makes of a line that its author probably meant otherwise.
type Warning struct {
	// Line is the line number in the file, from 1; 0 when the warning is about the whole file or the environment.
	Line int `json:"line"`
	// Text is the line itself, cut to a sane length.
	Text string `json:"text"`
	// Effect is what the libc does with it.
	Effect string `json:"effect"`
}

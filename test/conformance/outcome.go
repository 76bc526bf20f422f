package conformance

import (
	"net/netip"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
)

// Outcome is what came of one side.
type Outcome struct {
	Packets []scenario.Packet
	// Shared counts queries that shared a UDP socket with a query about another name.
	Shared int
	Calls  []Result
	// Killed is set when the process had not ended within the limit.
	Killed bool
	// Crashed is set when the libc ended the process (an assertion, a wild pointer).
	Crashed bool
	// Waited is how long threads that had something to do waited for a processor. Times are off by up to that much, and it is
	// not the libc's doing.
	Waited time.Duration
	// Notes are our resolver's.
	Notes []string
	// Err is set when the side could not be run.
	Err string
}

// Result is what one call returned.
type Result struct {
	// Code is getaddrinfo's return code.
	Code      int
	Addresses []netip.Addr
	Canonical string
	// Start counts from the start of the first call.
	Start, Elapsed time.Duration
}

package dnstest

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Asked is one query as it arrived at a server.
type Asked struct {
	At        time.Time
	Server    netip.Addr
	From      netip.AddrPort
	Transport probe.Transport
	Query     resolver.Query
}

// journal keeps what was asked, in order of arrival.
type journal struct {
	mu      sync.Mutex
	entries []Asked
	changed chan struct{} // closed and replaced at each entry
}

func (j *journal) add(a Asked) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, a)
	close(j.changed)
	j.changed = make(chan struct{})
}

func (j *journal) all() ([]Asked, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries), j.changed
}

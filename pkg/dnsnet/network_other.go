//go:build !linux

package dnsnet

import "context"

// Network implements resolver.Network on the sockets of this machine. Shut gives them back.
type Network struct{ portable }

// New returns a Network whose waits end when ctx ends.
func New(ctx context.Context, o Options) (*Network, error) {
	return &Network{portable: *newPortable(ctx, o)}, nil
}

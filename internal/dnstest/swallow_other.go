//go:build !linux

package dnstest

import (
	"errors"
	"net/netip"
)

func (s *Server) swallowTCP(netip.Addr) error {
	return errors.New("swallowing TCP handshakes needs Linux")
}

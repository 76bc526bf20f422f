package target

import (
	"net"
	"net/netip"
)

// addresses returns the addresses of all interfaces, loopback included. In a pod they are the pod's.
func addresses() ([]netip.Addr, error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, a := range list {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, prefix.Addr().Unmap())
		}
	}
	return out, nil
}

// interfaces returns the names of all interfaces, and the networks of their addresses.
func interfaces() (links []string, prefixes []netip.Prefix) {
	list, err := net.Interfaces()
	if err != nil {
		return nil, nil
	}
	for _, i := range list {
		links = append(links, i.Name)
		addrs, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				prefixes = append(prefixes, p)
			}
		}
	}
	return links, prefixes
}

// sourceFor returns the source address that the kernel would choose towards dst; invalid when there is no route. To connect
// a UDP socket sends nothing (as getaddrinfo does it, glibc sysdeps/posix/getaddrinfo.c).
func sourceFor(dst netip.Addr) netip.Addr {
	const port = 53 // Any but 0; nothing is sent.
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(dst, port)))
	if err != nil {
		return netip.Addr{}
	}
	local, ok := conn.LocalAddr().(*net.UDPAddr)
	_ = conn.Close() // Nothing was sent.
	if !ok {
		return netip.Addr{}
	}
	return local.AddrPort().Addr().Unmap()
}

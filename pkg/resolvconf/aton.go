package resolvconf

import (
	"net/netip"
	"strings"
)

// InetAton reads an IPv4 address in all forms of inet_aton(3): one to four parts, each decimal, octal with a leading 0, or
// hexadecimal with a leading 0x, the last part filling the bytes that are left. rest is what follows the address: empty, or
// text that begins with white space, which some callers allow.
//
// Source: glibc resolv/inet_addr.c, inet_aton_end; musl's inet_aton agrees on every form without a rest.
func InetAton(s string) (addr netip.Addr, rest string, ok bool) {
	last := [4]uint64{0xffffffff, 0xffffff, 0xffff, 0xff}
	var bytes [4]byte
	for part := 0; ; part++ {
		val, after, ok := cNumber(s)
		if !ok {
			return netip.Addr{}, "", false
		}
		s = after
		if strings.HasPrefix(s, ".") {
			if part == 3 || val > 0xff {
				return netip.Addr{}, "", false
			}
			bytes[part] = byte(val)
			s = s[1:]
			continue
		}
		if s != "" && !isSpace(s[0]) || val > last[part] {
			return netip.Addr{}, "", false
		}
		for i := 3; i >= part; i-- {
			bytes[i] = byte(val)
			val >>= 8
		}
		return netip.AddrFrom4(bytes), s, true
	}
}

// cNumber reads what strtoul(s, &rest, 0) reads, where s must begin with a digit and the value must fit 32 bits.
func cNumber(s string) (val uint64, rest string, ok bool) {
	if s == "" || !isDigit(s[0]) {
		return 0, "", false
	}
	base := uint64(10)
	if s[0] == '0' {
		base = 8
		if len(s) > 2 && s[1]|0x20 == 'x' && digitValue(s[2]) < 16 {
			base, s = 16, s[2:]
		}
	}
	for s != "" && digitValue(s[0]) < base {
		if val = val*base + digitValue(s[0]); val > 0xffffffff {
			return 0, "", false
		}
		s = s[1:]
	}
	return val, s, true
}

func digitValue(c byte) uint64 {
	switch lower := c | 0x20; {
	case isDigit(c):
		return uint64(c - '0')
	case lower >= 'a' && lower <= 'f':
		return uint64(lower-'a') + 10
	}
	return 99
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isSpace is isspace(3) in the C locale.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

package resolver

import (
	"net/netip"
	"testing"
)

func TestCommonBits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"2001:db8::1", "2001:db8::1", 128},
		{"2001:db8::1", "2001:db8::2", 126},
		{"2001:db8::", "2001:db8:8000::", 32},
		{"::", "8000::", 0},
		{"10.0.0.0", "10.0.0.1", 127},
		{"10.0.0.0", "::ffff:10.128.0.0", 104},
		{"fe80::1%eth0", "fe80::1", 128},
	} {
		a, b := netip.MustParseAddr(c.a), netip.MustParseAddr(c.b)
		if got, back := CommonBits(a, b), CommonBits(b, a); got != c.want || back != c.want {
			t.Errorf("%s and %s: %d and %d bits, want %d", a, b, got, back, c.want)
		}
	}
}

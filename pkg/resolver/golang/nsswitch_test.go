package golang

import (
	"reflect"
	"strings"
	"testing"
)

// text writes sources as hosts lines, one for each: Go adds them up.
func (n nsswitch) text() string {
	var b strings.Builder
	for _, s := range n.sources {
		b.WriteString("hosts: " + s.name + " [")
		for _, c := range s.criteria {
			if c.negate {
				b.WriteString("!")
			}
			b.WriteString(c.status + "=" + c.action + " ")
		}
		b.WriteString("]\n")
	}
	return b.String()
}

// FuzzParseNSS: what is read can be written, and is read the same again; whatever it is, a lookup has an order.
func FuzzParseNSS(f *testing.F) {
	f.Add("passwd: files\nhosts: files mdns4_minimal [NOTFOUND=return] dns # note\n", "printer.local", "pod")
	f.Add("hosts: dns [!UNAVAIL=return success=return]files\r\nhosts : myhostname\n", "pod", "pod")
	f.Add("hosts: files [x return] dns\nhosts\n:hosts:\x0b\xff", "", "")
	f.Fuzz(func(t *testing.T, text, host, hostname string) {
		n := parseNSS(&text)
		for _, cgo := range []bool{false, true} {
			if o, why := n.lookupOrder(host, hostname, cgo); o < filesDNS || o > onlyDNS || !cgo && why != "" {
				t.Errorf("%q: order %d, %s", text, o, why)
			}
		}
		if n.broken != "" {
			return
		}
		written := n.text()
		again := parseNSS(&written)
		if again.broken != "" || !reflect.DeepEqual(n.sources, again.sources) {
			t.Errorf("%q: %+v is written as %q and read as %+v (%s)", text, n.sources, written, again.sources, again.broken)
		}
	})
}

package conformance

import (
	"encoding/hex"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestParseQuery(t *testing.T) {
	const header, name = "1234 0100 0001 0000 0000 ", "0161 0162 00 "
	for _, tc := range []struct {
		what, wire string
		want       parsed
	}{
		{"A", header + "0000" + name + "0001 0001", parsed{id: 0x1234, name: "a.b.", kind: probe.TypeA, wellMade: true}},
		{"AAAA with AD", "1234 0120 0001 0000 0000 0000" + name + "001c 0001", parsed{id: 0x1234, name: "a.b.", kind: probe.TypeAAAA, ad: true, wellMade: true}},
		{"the root", header + "0000 00 0001 0001", parsed{id: 0x1234, name: ".", kind: probe.TypeA, wellMade: true}},
		{"OPT with an option", header + "0001" + name + "0001 0001 00 0029 04b0 00000000 0006 000a 0002 abcd", parsed{
			id: 0x1234, name: "a.b.", kind: probe.TypeA, edns: 1200, options: []uint16{10}, wellMade: true,
		}},
		{"DO set", header + "0001" + name + "0001 0001 00 0029 04b0 00008000 0000", parsed{id: 0x1234, name: "a.b.", kind: probe.TypeA}},
		{"CD set", "1234 0110 0001 0000 0000 0000" + name + "0001 0001", parsed{id: 0x1234}},
		{"RD clear", "1234 0000 0001 0000 0000 0000" + name + "0001 0001", parsed{id: 0x1234}},
		{"something behind it", header + "0000" + name + "0001 0001 00", parsed{id: 0x1234, name: "a.b.", kind: probe.TypeA}},
		{"cut", header + "0000 0361", parsed{id: 0x1234}},
		{"another type", header + "0000" + name + "000f 0001", parsed{id: 0x1234, name: "a.b."}},
	} {
		if got := parseQuery(unhex(t, tc.wire)); tc.want.wellMade != got.wellMade || got.wellMade && !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %+v, want %+v", tc.what, got, tc.want)
		}
	}
}

// ipv4 builds a packet from 127.0.0.1 to 127.0.0.2.
func ipv4(t *testing.T, proto byte, payload []byte) []byte {
	t.Helper()
	p := unhex(t, "4500 0000 0000 4000 4000 0000 7f000001 7f000002")
	p[2], p[3], p[9] = byte((20+len(payload))>>8), byte(20+len(payload)), proto
	return append(p, payload...)
}

func segment(t *testing.T, port string, seq string, flags string, data []byte) []byte {
	t.Helper()
	return append(unhex(t, port+"0035"+seq+"00000000 50"+flags+"ffff 0000 0000"), data...)
}

func TestStreamsArePutTogether(t *testing.T) {
	msg := unhex(t, "1234 0100 0001 0000 0000 0000 0161 00 0001 0001")
	framed := append([]byte{0, byte(len(msg))}, msg...)
	both := append(append([]byte{}, framed...), framed...)
	start := time.Unix(1000, 0)
	var frames []Frame
	for i, payload := range [][]byte{
		segment(t, "8000", "00000063", "02", nil),
		segment(t, "8000", "00000064", "18", both[:5]),
		segment(t, "8000", "00000064", "18", both[:5]), // sent again
		segment(t, "8000", "00000069", "18", both[5:]),
		segment(t, "8001", "00000001", "18", framed), // a connection whose beginning was not seen
	} {
		frames = append(frames, Frame{At: start.Add(time.Duration(i) * time.Millisecond), IP: ipv4(t, protoTCP, payload)})
	}
	got, _ := packetsOf(queriesOf(frames), start, false)
	server := netip.MustParseAddr("127.0.0.2")
	query := scenario.Packet{At: 3 * time.Millisecond, Transport: probe.TCP, Server: server, Socket: 1, ID: 1, Type: probe.TypeA, Name: "a.", Size: len(msg)}
	want := []scenario.Packet{{Transport: scenario.SYN, Server: server, Socket: 1}, query, query}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestClassesCountWithinAName(t *testing.T) {
	start := time.Unix(1000, 0)
	to := netip.MustParseAddrPort("127.0.0.2:53")
	from := func(port uint16) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port) }
	a, b := unhex(t, "0001 0100 0001 0000 0000 0000 0161 00 0001 0001"), unhex(t, "0001 0100 0001 0000 0000 0000 0162 00 0001 0001")
	got, shared := packetsOf([]sent{
		{start, probe.UDP, from(1), to, a},
		{start, probe.UDP, from(1), to, a},
		{start, probe.UDP, from(2), to, a},
		{start, probe.UDP, from(1), to, b},
	}, start, false)
	var classes [][2]int
	for _, p := range got {
		classes = append(classes, [2]int{p.Socket, p.ID})
	}
	if diff := cmp.Diff([][2]int{{1, 1}, {1, 1}, {2, 1}, {3, 2}}, classes); diff != "" || shared != 1 {
		t.Errorf("shared %d, classes (-want +got):\n%s", shared, diff)
	}
}

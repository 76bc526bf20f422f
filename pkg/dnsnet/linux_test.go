//go:build linux

package dnsnet

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

func TestKernelStampsTellWhenADatagramCame(t *testing.T) {
	srv, to := server(t, "127.0.0.2", map[string][]string{"*": {"a:192.0.2.1"}}, nil)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	n, err := New(ctx, Options{Port: srv.Port()})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Shut()
	awaitStamps(t)
	s := open(t, n, probe.UDP, to, true)
	if err := n.Send(s, to, pair("x.test.")[0]); err != nil {
		t.Fatal(err)
	}
	// The reply waits in the kernel while nobody polls for it; what it was answered by says that it is there.
	fds := []unix.PollFd{{Fd: int32(n.sockets[0].fd), Events: unix.POLLIN}}
	for ready, err := 0, error(nil); ready == 0 || errors.Is(err, unix.EINTR); {
		if ready, err = unix.Poll(fds, int(patience/time.Millisecond)); ready == 0 && err == nil {
			t.Fatal("no reply")
		}
	}
	there := n.Now()
	const held = 30 * time.Millisecond
	<-time.After(held)
	ev := next(t, n, s, resolver.EventReply)
	if ev.At.After(there) {
		t.Errorf("a reply that came before %s is said to have come %s later", there, ev.At.Sub(there))
	}
}

// awaitStamps keeps a socket that wants timestamps open during the test, until the kernel has begun to stamp packets as they
// come: it begins some time after the first socket asks for it, and stamps what came before when it is read.
func awaitStamps(t *testing.T) {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var optErr error
	err = raw.Control(func(fd uintptr) { optErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
	if err := errors.Join(err, optErr); err != nil {
		t.Fatal(err)
	}
	const held = 5 * time.Millisecond
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if _, err := conn.WriteToUDP([]byte("x"), conn.LocalAddr().(*net.UDPAddr)); err != nil {
			t.Fatal(err)
		}
		sent := time.Now()
		<-time.After(held)
		oob := make([]byte, 256)
		_, oobn, _, _, err := conn.ReadMsgUDP(make([]byte, 8), oob)
		if err != nil {
			t.Fatal(err)
		}
		if stamp, ok := kernelStamp(oob[:oobn]); ok && stamp.Sub(sent) < held/2 {
			return
		}
	}
	t.Fatal("the kernel does not stamp packets as they come")
}

func TestStampsOutsideOfTheSocketsLifeAreNotBelieved(t *testing.T) {
	now := time.Now()
	opened := now.Add(-time.Second)
	for _, tc := range []struct{ age, want time.Duration }{
		{0, 0}, {300 * time.Millisecond, 300 * time.Millisecond}, {time.Second, time.Second}, {-time.Millisecond, 0}, {time.Hour, 0},
	} {
		if got := now.Sub(onOurClock(now.Round(0).Add(-tc.age), now, opened)); got != tc.want {
			t.Errorf("stamp %s old: %s, want %s", tc.age, got, tc.want)
		}
	}
}

func TestErrorsKeepTheKernelsWords(t *testing.T) {
	for code, want := range map[unix.Errno]error{
		unix.ECONNREFUSED: resolver.ErrRefused, unix.ECONNRESET: resolver.ErrReset, unix.EPIPE: resolver.ErrReset,
		unix.EHOSTUNREACH: resolver.ErrUnreachable, unix.ENETUNREACH: resolver.ErrUnreachable, unix.ETIMEDOUT: resolver.ErrConnectTimedOut,
	} {
		if err := mapErr(os.NewSyscallError("recvmsg", code)); !errors.Is(err, want) || !errors.Is(err, code) {
			t.Errorf("%v became %v", code, err)
		}
	}
	if err := mapErr(unix.EMFILE); !errors.Is(err, unix.EMFILE) {
		t.Errorf("%v", err)
	}
}

func TestZones(t *testing.T) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	for _, zone := range []string{"lo", "1"} {
		sa, err := sockaddr(netip.AddrPortFrom(netip.MustParseAddr("fe80::1").WithZone(zone), 53), true)
		if err != nil {
			t.Fatal(err)
		}
		if got := sa.(*unix.SockaddrInet6).ZoneId; got != uint32(lo.Index) {
			t.Errorf("zone %s: index %d, want %d", zone, got, lo.Index)
		}
	}
	if _, err := sockaddr(netip.MustParseAddrPort("[fe80::1%nosuchlink]:53"), true); !errors.Is(err, unix.EINVAL) {
		t.Errorf("an unknown zone of a link-local address: %v", err)
	}
	if _, err := sockaddr(netip.MustParseAddrPort("[::1%nosuchlink]:53"), true); err != nil {
		t.Errorf("a zone where it means nothing: %v", err)
	}
}

func TestDescriptorsAreGivenBack(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	srv, _ := server(t, "127.0.0.2", nil, nil)
	// Nobody listens here: a server in this process would have descriptors of its own.
	to := netip.MustParseAddrPort("127.0.0.9:53")
	before := count()
	for range 20 {
		n, err := New(t.Context(), Options{Port: srv.Port()})
		if err != nil {
			t.Fatal(err)
		}
		a, b := open(t, n, probe.UDP, to, true), open(t, n, probe.TCP, to, false)
		next(t, n, b, resolver.EventError)
		n.Close(a)
		n.Shut()
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestOnlyHardErrorsWhereThatIsWanted(t *testing.T) {
	n, err := New(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Shut()
	for _, hard := range []bool{false, true} {
		for server, level := range map[string][2]int{
			"127.0.0.2:53": {unix.IPPROTO_IP, unix.IP_RECVERR}, "[::1]:53": {unix.IPPROTO_IPV6, unix.IPV6_RECVERR},
		} {
			id, err := n.Open(probe.UDP, netip.MustParseAddrPort(server), resolver.OpenOptions{Connected: true, HardErrorsOnly: hard})
			if errors.Is(err, unix.EADDRNOTAVAIL) {
				continue // No IPv6 here; IPv4 was looked at.
			}
			if err != nil {
				t.Fatal(err)
			}
			on, err := unix.GetsockoptInt(n.find(id).fd, level[0], level[1])
			if err != nil || (on != 0) == hard {
				t.Errorf("%s, hard errors only %v: the option is %d, %v", server, hard, on, err)
			}
		}
	}
}

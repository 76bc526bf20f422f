//go:build linux

package conformance

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// TestListenerHearsAnotherNamespace sends in a network namespace that this thread alone is in, and listens from another thread.
func TestListenerHearsAnotherNamespace(t *testing.T) {
	endIfCannot(t, CannotRun())
	// The thread is not given back: it ends with the goroutine of the test.
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l, err := Listen(fmt.Sprintf("/proc/%d/task/%d/ns/net", os.Getpid(), unix.Gettid()), "lo")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("udp", "127.0.0.53:53")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const query = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07example\x03com\x00\x00\x01\x00\x01"
	if _, err := conn.Write([]byte(query)); err != nil {
		t.Fatal(err)
	}
	packets, err := l.Packets(Library{Libc: probe.Glibc})
	if err != nil || len(packets) != 1 {
		t.Fatalf("%d packets, error %v\n%s", len(packets), err, Listing(packets))
	}
	if p := packets[0]; p.Name != "www.example.com." || p.Type != probe.TypeA || p.Transport != probe.UDP || p.At != 0 || p.Server.String() != "127.0.0.53" {
		t.Errorf("%+v", p)
	}
	if again, err := l.Packets(Library{Libc: probe.Glibc}); err != nil || len(again) != 0 {
		t.Errorf("told of %d packets twice, error %v", len(again), err)
	}
}

func TestListenSaysWhatIsMissing(t *testing.T) {
	if l, err := Listen("/proc/self/ns/none", "lo"); err == nil {
		l.Close()
		t.Error("listened in a namespace that is not there")
	}
}

func TestAPortThatIsDrawnAgainIsAnotherSocket(t *testing.T) {
	packet := func(transport probe.Transport, socket, id int, name string) scenario.Packet {
		return scenario.Packet{Transport: transport, Socket: socket, ID: id, Name: name}
	}
	got := byAttempt([]scenario.Packet{
		packet(probe.UDP, 1, 1, "a.x."), packet(probe.UDP, 1, 2, "a.x."),
		packet(probe.UDP, 2, 3, "a."), packet(scenario.SYN, 3, 0, ""), packet(probe.TCP, 3, 3, "a."),
		packet(probe.UDP, 1, 1, "a.x."), packet(probe.UDP, 1, 4, "a.x."), packet(probe.TCP, 3, 1, "a.x."),
	})
	want := []scenario.Packet{
		packet(probe.UDP, 1, 1, "a.x."), packet(probe.UDP, 1, 2, "a.x."),
		packet(probe.UDP, 2, 3, "a."), packet(scenario.SYN, 3, 0, ""), packet(probe.TCP, 3, 3, "a."),
		packet(probe.UDP, 4, 4, "a.x."), packet(probe.UDP, 4, 5, "a.x."), packet(probe.TCP, 3, 4, "a.x."),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%swant\n%s", Listing(got), Listing(want))
	}
}

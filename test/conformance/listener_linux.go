package conformance

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Listener keeps what leaves through a device of another network namespace, such as that of a pod.
type Listener struct{ s *sniffer }

// Listen listens on a device of the network namespace that a file stands for (/proc/PID/ns/net). It takes the right to enter the
// namespace and to open packet sockets there.
func Listen(namespace, device string) (*Listener, error) {
	type result struct {
		s   *sniffer
		err error
	}
	done := make(chan result, 1)
	go func() {
		// A socket belongs to the namespace in which it was made. The thread stays there, and ends with this goroutine.
		runtime.LockOSThread()
		s, err := func() (*sniffer, error) {
			if err := enter(namespace); err != nil {
				return nil, err
			}
			return sniffOn(device)
		}()
		done <- result{s, err}
	}()
	r := <-done
	if r.err != nil {
		return nil, fmt.Errorf("listen on %s in %s: %w", device, namespace, r.err)
	}
	return &Listener{r.s}, nil
}

func enter(namespace string) error {
	file, err := os.Open(namespace)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the network namespace: %w", err)
	}
	return nil
}

// Packets returns what was sent to port 53 since it was last called, with times that count from the first packet, and in the order in
// which packets of this library can be compared.
func (l *Listener) Packets(library Library) ([]scenario.Packet, error) {
	frames, err := l.s.frames()
	if err != nil {
		return nil, err
	}
	queries := queriesOf(frames)
	if len(queries) == 0 {
		return nil, nil
	}
	packets, _ := packetsOf(queries, queries[0].at, library.oneSocket())
	return library.settle(byAttempt(packets)), nil
}

// byAttempt gives UDP sockets and ids of one attempt no class that another attempt has. What asks for one name after the other takes a new
// socket each time, and the kernel can draw a port again that was closed a moment ago, for the same name in a second walk, too.
func byAttempt(packets []scenario.Packet) []scenario.Packet {
	type class struct{ number, attempt int }
	sockets, ids := map[class]int{}, map[class]int{}
	name, attempt := "", 0
	out := slices.Clone(packets)
	for i := range out {
		p := &out[i]
		if p.Transport == scenario.SYN {
			p.Socket = classOf(sockets, class{p.Socket, 0})
			continue
		}
		if p.Name != name {
			name = p.Name
			attempt++
		}
		of := attempt
		if p.Transport == probe.TCP {
			of = 0
		}
		p.Socket, p.ID = classOf(sockets, class{p.Socket, of}), classOf(ids, class{p.ID, attempt})
	}
	return out
}

// Close ends the listening.
func (l *Listener) Close() { l.s.close() }

// Listing shows packets for people, one a line.
func Listing(packets []scenario.Packet) string { return listing(packets) }

package conformance

import (
	"errors"
	"fmt"
	"net"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sniffer keeps the outgoing packets of a network device in the kernel until they are asked for: what a process sent before it
// ended is there, and nothing competes with the process for a processor.
type sniffer struct{ fd int }

// snifferBytes is room for some ten thousand packets; a case sends some hundred.
const snifferBytes = 32 << 20

func sniff() (*sniffer, error) { return sniffOn("lo") }

func sniffOn(name string) (*sniffer, error) {
	device, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fmt.Errorf("find the network device %s: %w", name, err)
	}
	all := int(htons(unix.ETH_P_ALL))
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open a packet socket: %w", err)
	}
	s := &sniffer{fd: fd}
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, snifferBytes),
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: uint16(all), Ifindex: device.Index}),
	)
	if err != nil {
		s.close()
		return nil, fmt.Errorf("prepare a packet socket on %s: %w", name, err)
	}
	return s, nil
}

func htons(v uint16) uint16 { return v<<8 | v>>8 }

func (s *sniffer) close() { _ = unix.Close(s.fd) }

// frames returns the outgoing packets so far. A packet that found no room is an error.
func (s *sniffer) frames() ([]Frame, error) {
	var out []Frame
	buf, oob := make([]byte, 1<<16+64), make([]byte, 256)
	for {
		n, oobn, _, from, err := unix.Recvmsg(s.fd, buf, oob, 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			stats, err := unix.GetsockoptTpacketStats(s.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
			if err == nil && stats.Drops > 0 {
				err = fmt.Errorf("the packet socket dropped %d packets", stats.Drops)
			}
			return out, err
		case err != nil:
			return nil, fmt.Errorf("read the packet socket: %w", err)
		}
		link, ok := from.(*unix.SockaddrLinklayer)
		if !ok || link.Pkttype != unix.PACKET_OUTGOING {
			continue
		}
		at, ok := stamp(oob[:oobn])
		if !ok {
			return nil, errors.New("a packet has no timestamp")
		}
		out = append(out, Frame{At: at, IP: append([]byte{}, buf[:n]...)})
	}
}

func stamp(oob []byte) (time.Time, bool) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return time.Time{}, false
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS {
			ts := (*unix.Timespec)(unsafe.Pointer(&m.Data[0]))
			return time.Unix(ts.Unix()), true
		}
	}
	return time.Time{}, false
}

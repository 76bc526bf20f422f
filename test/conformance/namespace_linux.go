package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// etc is replaced as a whole, so that nothing of the machine's own settings (host.conf, gai.conf, nscd.conf) matters.
const etc = "/etc"

// settle makes this process's fresh namespaces those of the case. Nothing outside of them changes.
func settle(c *Case) error {
	if err := settleFiles(c); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(c.Hostname)); err != nil {
		return fmt.Errorf("set the hostname %q: %w", c.Hostname, err)
	}
	return settleLinks(c)
}

func settleFiles(c *Case) error {
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make the mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc of the new PID namespace: %w", err)
	}
	// The dynamic linker's cache is only a help, and some systems have none.
	cache, err := os.ReadFile(filepath.Join(etc, "ld.so.cache"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := unix.Mount("tmpfs", etc, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=16m"); err != nil {
		return fmt.Errorf("mount an empty %s: %w", etc, err)
	}
	files := map[string]string{
		"hosts": c.Hosts, "host.conf": c.hostConf(),
	}
	if cache != nil {
		files["ld.so.cache"] = string(cache)
	}
	if !c.NoResolvConf {
		files["resolv.conf"] = c.ResolvConf
	}
	if c.NSSwitch != nil {
		files["nsswitch.conf"] = *c.NSSwitch
	}
	if c.GaiConf != "" {
		files["gai.conf"] = c.GaiConf
	}
	if c.HostAliases != "" {
		files[filepath.Base(aliasesPath)] = c.HostAliases
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(etc, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func settleLinks(c *Case) error {
	if c.NoIPv6 {
		for _, link := range []string{"all", "default", "lo"} {
			if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+link+"/disable_ipv6", []byte("1\n"), 0); err != nil {
				return fmt.Errorf("switch IPv6 off: %w", err)
			}
		}
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, req); err != nil {
		return fmt.Errorf("read the flags of lo: %w", err)
	}
	req.SetUint16(req.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("set lo up: %w", err)
	}
	for i, p := range c.Addresses {
		add := addIPv6
		if p.Addr().Is4() {
			add = addIPv4
		}
		if err := add(i+1, p); err != nil {
			return fmt.Errorf("add %s to lo: %w", p, err)
		}
	}
	return awaitAddresses()
}

// awaitAddresses waits until no IPv6 address is tentative any more: even on the loopback, where nothing is tried for
// duplicates, the kernel takes that mark away a little later, and until then does not choose the address as a source.
func awaitAddresses() error {
	const tentative = 0x40 // IFA_F_TENTATIVE of linux/if_addr.h
	for end := time.Now().Add(settleTime); ; {
		text, err := os.ReadFile("/proc/net/if_inet6")
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		waiting := false
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			if len(words) != 6 {
				return fmt.Errorf("read /proc/net/if_inet6: %q", line)
			}
			flags, err := strconv.ParseUint(words[4], 16, 32)
			if err != nil {
				return fmt.Errorf("read /proc/net/if_inet6: %q: %w", line, err)
			}
			waiting = waiting || flags&tentative != 0
		}
		switch {
		case !waiting:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("IPv6 addresses are still tentative after %s", settleTime)
		}
		time.Sleep(time.Millisecond)
	}
}

// settleTime bounds the wait for addresses.
const settleTime = 10 * time.Second

// addIPv4 gives the loopback a further address under an alias label (netdevice(7)).
func addIPv4(n int, p netip.Prefix) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	req, err := unix.NewIfreq(fmt.Sprintf("lo:%d", n))
	if err != nil {
		return err
	}
	if err := req.SetInet4Addr(p.Addr().AsSlice()); err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFADDR, req); err != nil {
		return err
	}
	if err := req.SetInet4Addr(net.CIDRMask(p.Bits(), 32)); err != nil {
		return err
	}
	return unix.IoctlIfreq(fd, unix.SIOCSIFNETMASK, req)
}

// in6Ifreq is struct in6_ifreq of linux/ipv6.h.
type in6Ifreq struct {
	addr      [16]byte
	prefixLen uint32
	index     int32
}

func addIPv6(_ int, p netip.Prefix) error {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return err
	}
	req := in6Ifreq{addr: p.Addr().As16(), prefixLen: uint32(p.Bits()), index: int32(lo.Index)}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFADDR, uintptr(unsafe.Pointer(&req))); errno != 0 {
		return errno
	}
	return nil
}

package target

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// tree writes files below dir. A text that starts with "-> " is a link, a name that ends in "/" a folder.
func tree(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		folder := filepath.Dir(path)
		if name[len(name)-1] == '/' {
			folder = path
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch to, link := cutPrefix(text, "-> "); {
		case folder == path:
		case link:
			err = os.Symlink(to, path)
		default:
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || s[:len(prefix)] != prefix {
		return s, false
	}
	return s[len(prefix):], true
}

// podWorld is a /proc with a target and the probe in it, as in a container that shares the target's process namespace.
type podWorld struct {
	proc, root, own string
	self            int
}

func newPodWorld(t *testing.T, files map[string]string) podWorld {
	t.Helper()
	dir := t.TempDir()
	w := podWorld{proc: filepath.Join(dir, "proc"), root: filepath.Join(dir, "root"), own: filepath.Join(dir, "own"), self: 42}
	tree(t, w.root, files)
	tree(t, w.own, map[string]string{"etc/resolv.conf": "nameserver 192.0.2.1\n", "etc/hosts": "192.0.2.9 sandbox\n"})
	w.add(t, Process{PID: 1, Name: "java", UID: 1000, Cgroup: "0::/../target\n"}, "/usr/bin/java", "")
	w.add(t, Process{PID: w.self, Name: agentName, UID: 1000, Cgroup: "0::/\n"}, "/dnsprobe-agent", "")
	return w
}

// add adds a process whose root is the target's.
func (w podWorld) add(t *testing.T, p Process, exe, environ string) {
	t.Helper()
	remove(t, filepath.Join(w.proc, strconv.Itoa(p.PID)))
	kthread := 0
	if p.Kernel {
		kthread = 1
	}
	tree(t, filepath.Join(w.proc, strconv.Itoa(p.PID)), map[string]string{
		"status": fmt.Sprintf("Name:\t%s\nUmask:\t0022\nPPid:\t%d\nUid:\t%d\t%d\t%d\t%d\nKthread:\t%d\n",
			p.Name, p.PPID, p.UID, p.UID, p.UID, p.UID, kthread),
		"cgroup": p.Cgroup, "environ": environ, "maps": "", "root": "-> " + w.root, "exe": "-> " + filepath.Join(w.root, exe), "cwd": "-> /srv",
	})
}

func (w podWorld) place() Place {
	return Place{
		Proc: w.proc, Own: w.own, Self: w.self,
		Hostname:  func() (string, error) { return "payments-7d4", nil },
		Addresses: func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("198.18.0.7")}, nil },
		SourceFor: func(netip.Addr) netip.Addr { return netip.MustParseAddr("198.18.0.7") },
	}
}

// elf makes a program with one read-only segment that holds the texts, one writable segment that holds data, and a loader
// unless interp is empty.
func elf(interp string, data []byte, texts ...string) string {
	return elfOf(true, binary.LittleEndian, interp, data, texts...)
}

func elfOf(wide bool, order binary.ByteOrder, interp string, data []byte, texts ...string) string {
	const body = 0x1000
	ro := []byte("\x00")
	for _, text := range texts {
		ro = append(append(ro, text...), 0)
	}
	type part struct {
		kind, flags uint32
		data        []byte
	}
	parts := []part{{loadSegment, 4, ro}, {loadSegment, 6, data}}
	if interp != "" {
		parts = append(parts, part{interpSegment, 4, append([]byte(interp), 0)})
	}
	class, head, entry := byte(1), 52, 32
	if wide {
		class, head, entry = classWide, elfHeaderSize, 56
	}
	endian := byte(1)
	if order == binary.BigEndian {
		endian = bigEndian
	}
	out := make([]byte, body)
	copy(out, "\x7fELF")
	out[4], out[5], out[6] = class, endian, 1
	if wide {
		order.PutUint64(out[32:], uint64(head))
		order.PutUint16(out[54:], uint16(entry))
		order.PutUint16(out[56:], uint16(len(parts)))
	} else {
		order.PutUint32(out[28:], uint32(head))
		order.PutUint16(out[42:], uint16(entry))
		order.PutUint16(out[44:], uint16(len(parts)))
	}
	for i, p := range parts {
		// Segments begin at page boundaries, as real ones do.
		for len(out)%body != 0 {
			out = append(out, 0)
		}
		e := out[head+i*entry:]
		order.PutUint32(e, p.kind)
		if wide {
			order.PutUint32(e[4:], p.flags)
			order.PutUint64(e[8:], uint64(len(out)))
			order.PutUint64(e[32:], uint64(len(p.data)))
		} else {
			order.PutUint32(e[4:], uint32(len(out)))
			order.PutUint32(e[16:], uint32(len(p.data)))
			order.PutUint32(e[24:], p.flags)
		}
		out = append(out, p.data...)
	}
	return string(out)
}

// goData makes the data of a Go program with build information some way into it.
func goData(version string, settings ...string) []byte {
	var b bytes.Buffer
	b.Write(make([]byte, 128<<10))
	b.WriteString(buildMagic)
	b.Write([]byte{8, buildInline})
	b.Write(make([]byte, buildHeader-buildAlign))
	module := "\x30\x77\xaf\x0c\x92\x74\x08\x02\x41\xe1\xc1\x07\xe6\xd6\x18\xe6path\texample.org/app\nmod\texample.org/app\t(devel)\t\n"
	for _, s := range settings {
		module += "build\t" + s + "\n"
	}
	for _, s := range []string{"go" + version, module + "\xf9\x32\x43\x31\x86\x18\x20\x72\x00\x82\x42\x10\x41\x16\xd8\xf2"} {
		b.Write(binary.AppendUvarint(nil, uint64(len(s))))
		b.WriteString(s)
	}
	return b.Bytes()
}

const (
	glibcLoader = "/lib64/ld-linux-x86-64.so.2"
	muslLoader  = "/lib/ld-musl-x86_64.so.1"
	debian12    = "GNU C Library (Debian GLIBC 2.36-9+deb12u14) stable release version 2.36.\nCopyright (C) 2022 Free Software Foundation, Inc.\n"
)

// debian is an image with glibc, laid out as Debian does it, with links that are absolute where Debian's are.
func debian(banner string, more map[string]string) map[string]string {
	files := map[string]string{
		"lib":                                "-> usr/lib",
		"lib64":                              "-> usr/lib64",
		"usr/lib64/ld-linux-x86-64.so.2":     "-> /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
		"usr/lib/x86_64-linux-gnu/libc.so.6": elf("", nil, "GLIBC_2.2.5", banner),
		"usr/bin/java":                       elf(glibcLoader, nil, "getaddrinfo"),
		"etc/resolv.conf":                    "nameserver 192.0.2.53\nsearch shop.svc.cluster.local\noptions ndots:5\n",
		"etc/hosts":                          "192.0.2.7 payments-7d4\n",
		"etc/nsswitch.conf":                  "hosts: files dns\n",
		"usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2": elf("", nil),
	}
	for name, text := range more {
		if text == "" {
			delete(files, name)
			continue
		}
		files[name] = text
	}
	return files
}

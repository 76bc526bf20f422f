package target

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
)

// Bounds of what is read, in bytes. glibc and musl have none; nobody needs more.
const (
	maxResolvConf  = 64 << 10
	maxHosts       = 1 << 20
	maxNSSwitch    = 64 << 10
	maxGaiConf     = 64 << 10
	maxHostAliases = 64 << 10
	maxEnviron     = 2 << 20
	maxVariable    = 4 << 10
	maxHostname    = 255
)

// names are the variables that resolvers read (resolver.System.Env).
var names = []string{"RES_OPTIONS", "LOCALDOMAIN", "HOSTALIASES", "GODEBUG"}

// variables takes the wanted ones out of the text of /proc/PID/environ.
func variables(environ string) map[string]string { return wanted(strings.Split(environ, "\x00")) }

// wanted takes the variables that resolvers read out of an environment. As with getenv, the first of a name counts.
func wanted(environ []string) map[string]string {
	env := map[string]string{}
	for _, entry := range environ {
		name, value, ok := strings.Cut(entry, "=")
		if _, again := env[name]; !ok || again {
			continue
		}
		for _, n := range names {
			if n == name {
				env[name] = cut(value, maxVariable)
			}
		}
	}
	return env
}

// files reads what a process with this root, environment and working folder would read.
func (p Place) files(t *Truth, root *Root, env map[string]string, cwd string) {
	t.System.Env = env
	t.resolvConf(root)
	t.hosts(root)
	t.nsswitch(root)
	text, err := root.Read("etc/gai.conf", maxGaiConf)
	t.System.GaiConf = t.optional("gai.conf", text, err)
	// Without the file, what most distributions ship is taken to be there: our own image has none either.
	if text, err := root.Read("etc/host.conf", maxGaiConf); err == nil {
		t.System.HostConf = &text
	}
	if file := env["HOSTALIASES"]; file != "" {
		if !path.IsAbs(file) {
			file = path.Join(cwd, file)
		}
		text, err := root.Read(file, maxHostAliases)
		t.System.HostAliases = t.optional("file of HOSTALIASES", text, err)
	}
	p.kernel(t)
	if t.System.Hostname == "" {
		// uname knows it everywhere that we know of.
		if text, err := root.Read("etc/hostname", maxHostname); err == nil {
			t.System.Hostname = strings.TrimSpace(text)
		}
	}
}

func (t *Truth) resolvConf(root *Root) {
	text, err := root.Read("etc/resolv.conf", maxResolvConf)
	t.System.NoResolvConf = err != nil && !errors.Is(err, errCut)
	t.System.ResolvConf = t.optional("resolv.conf", text, err)
}

func (t *Truth) hosts(root *Root) {
	text, err := root.Read("etc/hosts", maxHosts)
	t.System.Hosts = t.optional("hosts", text, err)
}

func (t *Truth) nsswitch(root *Root) {
	text, err := root.Read("etc/nsswitch.conf", maxNSSwitch)
	if text = t.optional("nsswitch.conf", text, err); err == nil || errors.Is(err, errCut) {
		t.System.NSSwitch = &text
	}
}

// optional returns the text of a file that need not exist. Whatever else keeps it from being read is remembered.
func (t *Truth) optional(what, text string, err error) string {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.unknown(what, err)
	}
	return text
}

// unknown remembers that an input could not be read, or not in full.
func (t *Truth) unknown(what string, err error) {
	why := err.Error()
	switch {
	case errors.Is(err, errCut):
		why = "only its start was read: it is " + errCut.Error()
	case errors.Is(err, fs.ErrPermission):
		why = "permission denied"
	}
	t.Unknown = append(t.Unknown, fmt.Sprintf("%s (%s)", what, printable.Text(why, 200)))
}

// kernel asks the kernel what the pod's containers share: host name, addresses, routes.
func (p Place) kernel(t *Truth) {
	if name, err := p.Hostname(); err == nil && len(name) <= maxHostname && utf8.ValidString(name) {
		t.System.Hostname = name
	}
	list, err := p.Addresses()
	if err != nil {
		t.unknown("interface addresses", err)
	}
	t.System.Addresses = list
	t.System.SourceFor = p.SourceFor
	if p.Interfaces != nil {
		t.System.Links, t.System.Prefixes = p.Interfaces()
	}
}

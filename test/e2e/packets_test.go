//go:build e2e

package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/test/conformance"
)

// workload is one of the applications of the test cluster.
type workload struct {
	app  string
	libc probe.Libc
	// version asks the application, or the loader beside it, which version of its libc it runs with; the first group of the
	// expression has it in what it says.
	version []string
	said    *regexp.Regexp
}

var workloads = []workload{
	{"payments", probe.Glibc, []string{"/app/payments", "--libc"}, regexp.MustCompile(`^glibc (\S+)`)},
	{"checkout", probe.Musl, []string{"sh", "-c", "for loader in /lib/ld-musl-*; do $loader; done"}, regexp.MustCompile(`(?m)^Version (\S+)`)},
	{"cart", probe.Go, []string{"/app/cart", "--libc"}, regexp.MustCompile(`^go (\S+)`)},
}

// libcVersion is the version of the libc as the application has it.
func (w workload) libcVersion(t *testing.T, pod string) string {
	t.Helper()
	// musl's loader, run as a program, says its version to stderr, and that it was given nothing to do.
	r := run(t.Context(), "kubectl", append([]string{"-n", "shop", "exec", pod, "--"}, w.version...)...)
	found := w.said.FindStringSubmatch(r.stdout + r.stderr)
	if found == nil {
		t.Fatalf("%q in %s said %q and %q", w.version, pod, r.stdout, r.stderr)
	}
	return found[1]
}

// checkDetected checks that a run found out the libc of a workload by itself.
func (w workload) checkDetected(t *testing.T, found probe.Resolver, version string) {
	t.Helper()
	if found.Libc != w.libc || found.Version != version || found.Source != probe.SourceDetected {
		t.Errorf("%s runs with %s %s; the run took it for %+v", w.app, w.libc, version, found)
	}
}

func TestTheLibcOfEachWorkload(t *testing.T) {
	t.Parallel()
	for _, w := range workloads {
		pod := podOf(t, "shop", w.app)
		found := probed(t, "-n", "shop", pod, "ledger", "--bare")
		w.checkDetected(t, found.Resolver, w.libcVersion(t, pod))
		t.Logf("%s: %s %s: %s", w.app, found.Resolver.Libc, found.Resolver.Version, found.Resolver.Why)
	}
}

// lookup is a host that application and plugin resolve in the same pod.
type lookup struct {
	host string
	// packets is how many messages a resolution is; 0 where it hangs on the libc.
	packets int
	// cut is set where the libc may take what UDP has room for: the server shuffles, so the addresses are others each time.
	cut bool
	// lost is a name of whose AAAA replies the first one is lost before it reaches the pod's processes.
	lost string
	// not is a libc whose packets hang on a race there, and why.
	not probe.Libc
	why string
	// code is the exit code of the plugin.
	code int
}

var lookups = []lookup{
	{host: "api.stripe.com", packets: 10},
	{host: "api.github.com.", packets: 2},
	{host: "ledger", packets: 2},
	{host: "ledger.core", packets: 4},
	{host: "ledger.core.svc.cluster.local", packets: 10},
	{host: "no-such-name.example.com", packets: 10, code: 3},
	// Truncated over UDP: glibc and Go ask again over TCP, musl before 1.2.4 does not.
	{host: "huge.example.com", cut: true},
	{host: broken, code: 3, not: probe.Musl, why: "musl answers each SERVFAIL with the query again, up to four times, and CoreDNS replies to A and AAAA in any order"},
	{host: "www.example.com", lost: "www.example.com."},
}

// broken is a host for which the outside server has nothing but SERVFAIL.
const broken = "broken.example.com"

// tuned are lookups in pods whose settings somebody has changed.
var tuned = map[string]struct {
	options string
	lookups []lookup
}{
	"payments": {
		`[{"name": "ndots", "value": "2"}, {"name": "edns0"}, {"name": "trust-ad"}, {"name": "single-request-reopen"}]`,
		[]lookup{{host: "api.stripe.com", packets: 2}, {host: "ledger.core", packets: 4}, {host: "big.example.com"}},
	},
	"checkout": {
		`[{"name": "ndots", "value": "2"}, {"name": "timeout", "value": "2"}, {"name": "attempts", "value": "4"}]`,
		[]lookup{{host: "api.stripe.com", packets: 2}, {host: "ledger.core", packets: 4}, {host: "www.example.com", lost: "www.example.com."}},
	},
	"cart": {
		`[{"name": "ndots", "value": "2"}, {"name": "use-vc"}]`,
		[]lookup{{host: "api.stripe.com", packets: 2}, {host: "ledger.core", packets: 4}},
	},
}

// TestOurPacketsAreThoseOfTheApplication listens on the interface of a pod while the application resolves a host, and then while the
// plugin does.
func TestOurPacketsAreThoseOfTheApplication(t *testing.T) {
	onOurs(t, "packets are read on the node, which has to be this machine")
	t.Parallel()
	outside(t, "rcode=SERVFAIL", "names="+broken)
	t.Run("each", func(t *testing.T) {
		for _, w := range workloads {
			t.Run(w.app, func(t *testing.T) {
				t.Parallel()
				w.compare(t, "quiet-"+w.app, "", lookups)
			})
			t.Run(w.app+" tuned", func(t *testing.T) {
				t.Parallel()
				w.compare(t, "tuned-"+w.app, `"dnsConfig": {"options": `+tuned[w.app].options+`}`, tuned[w.app].lookups)
			})
		}
	})
}

// compare compares the packets of application and plugin in a pod of their own.
func (w workload) compare(t *testing.T, pod, spec string, hosts []lookup) {
	t.Helper()
	quietPod(t, w.app, pod, spec)
	s := side{t: t, w: w, pod: pod, namespace: networkOf(t, "shop", pod), version: w.libcVersion(t, pod)}
	listener, err := conformance.Listen(s.namespace, "eth0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	s.listener = listener
	for _, l := range hosts {
		if l.not == w.libc {
			t.Logf("%s is left out: %s", l.host, l.why)
			continue
		}
		s.compare(l)
	}
}

// side is a pod in which application and plugin resolve by turns.
type side struct {
	t                       *testing.T
	w                       workload
	pod, namespace, version string
	listener                *conformance.Listener
}

// compare compares the packets of application and plugin for one host.
func (s side) compare(l lookup) {
	t := s.t
	t.Helper()
	s.lose(l.lost)
	resolved, address := s.application(l.host)
	theirs := s.packets()
	s.lose(l.lost)
	found := probedUntil(t, l.code, "-n", "shop", s.pod, l.host, "--bare")
	ours := s.packets()

	s.w.checkDetected(t, found.Resolver, s.version)
	differences := scenario.Compare(theirs, onTime(ours, theirs))
	if len(differences) > 0 {
		t.Errorf("%s: %v\nthe application:\n%sthe plugin:\n%s", l.host, differences, conformance.Listing(theirs), conformance.Listing(ours))
	}
	if sent := len(withoutSYN(theirs)); sent == 0 || l.packets > 0 && sent != l.packets {
		t.Errorf("%s: the application sent %d messages, want %d\n%s", l.host, sent, l.packets, conformance.Listing(theirs))
	}
	if l.lost != "" && !again(theirs) {
		t.Errorf("%s: nothing was sent again, so nothing was lost\n%s", l.host, conformance.Listing(theirs))
	}
	res := found.Resolutions[0]
	if (res.Outcome == probe.OK) != resolved || resolved && !l.cut && !slices.Contains(res.Addresses, address) {
		t.Errorf("%s: the application found %q (resolved: %t), the plugin %s %q", l.host, address, resolved, res.Outcome, res.Addresses)
	}
	if sent := len(withoutSYN(ours)); res.TransmissionsSent != sent {
		t.Errorf("%s: the trace has %d messages, the interface saw %d", l.host, res.TransmissionsSent, sent)
	}
	t.Logf("%s: %d packets, last after %s", l.host, len(theirs), lastOf(theirs).At.Round(time.Millisecond))
}

// application makes the application resolve a host once, and returns the address that it connected to.
func (s side) application(host string) (resolved bool, address string) {
	s.t.Helper()
	r := run(s.t.Context(), "kubectl", "-n", "shop", "exec", s.pod, "--", "/app/"+s.w.app, "--once", host+":443")
	words := strings.Fields(r.stdout)
	if len(words) < 2 || words[0] != host+":443" || r.code > 1 {
		s.t.Fatalf("%s --once %s: code %d, said %q\n%s", s.w.app, host, r.code, r.stdout, r.stderr)
	}
	return r.code == 0, words[1]
}

func (s side) packets() []scenario.Packet {
	s.t.Helper()
	packets, err := s.listener.Packets(conformance.Library{Libc: s.w.libc, Version: s.version})
	if err != nil {
		s.t.Fatal(err)
	}
	return packets
}

// lose loses the next reply about the AAAA records of a name, behind the interface and before the processes of the pod.
func (s side) lose(name string) {
	s.t.Helper()
	if name == "" {
		return
	}
	const udpHeader, dnsHeader, typeAAAA = 8, 12, 28
	// On the wire a name has a byte more than its text: each label has its length before it, and the root is a length of 0.
	at := 8 * (udpHeader + dnsHeader + len(name) + 1)
	filter(s.t, s.namespace, "lost", "type filter hook input priority 0",
		fmt.Sprintf("udp sport 53 @th,%d,16 %d limit rate 1/day burst 1 packets drop", at, typeAAAA))
}

// busy is how late a packet can be because the machine has other work. It is less than the least time after which a libc here sends
// something again.
const busy = time.Second

// onTime returns packets with the times of those that they stand beside, where they are no later or earlier than a busy machine explains.
func onTime(packets, beside []scenario.Packet) []scenario.Packet {
	out := slices.Clone(packets)
	for i := range min(len(out), len(beside)) {
		if (out[i].At - beside[i].At).Abs() < busy {
			out[i].At = beside[i].At
		}
	}
	return out
}

func withoutSYN(packets []scenario.Packet) []scenario.Packet {
	return slices.DeleteFunc(slices.Clone(packets), func(p scenario.Packet) bool { return p.Transport == scenario.SYN })
}

func lastOf(packets []scenario.Packet) scenario.Packet {
	if len(packets) == 0 {
		return scenario.Packet{}
	}
	return packets[len(packets)-1]
}

// again says whether a query was sent a second time over UDP.
func again(packets []scenario.Packet) bool {
	for i, p := range packets {
		if slices.ContainsFunc(packets[:i], func(q scenario.Packet) bool {
			return q.Name == p.Name && q.Type == p.Type && q.Transport == probe.UDP && p.Transport == probe.UDP
		}) {
			return true
		}
	}
	return false
}

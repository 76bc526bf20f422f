package viewtest

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"

// Libcs is a Service's short name that glibc and Go find and musl does not, and c-ares in a way that nobody has a reason for.
func Libcs() *Stream {
	s := Open(ClusterSearch[:3]...)
	const host = "payments.billing.svc"
	walk := func(id string, libc probe.Libc, version string) {
		s.Through(id, host, libc, version)
		s.Pair(0.1, 0.9, 1, host+".", -1, "NXDOMAIN")
		if libc == probe.Musl {
			s.End(1, probe.Ended{Outcome: probe.NXDomain, Code: "EAI_NONAME", DecidedBy: 1, AnsweredBy: "dns"})
			return
		}
		s.Pair(1.1, 0.9, 2, host+".shop.svc.cluster.local.", 0, "NXDOMAIN")
		s.Pair(2.1, 0.9, 3, host+".svc.cluster.local.", 1, "NXDOMAIN")
		s.Attempt(3.1, 4, host+".cluster.local.", 2).Sent(3.1, 4, probe.TypeA, 1).Sent(3.1, 4, probe.TypeAAAA, 1)
		s.Received(3.8, 4, probe.TypeA, "NOERROR", A(host+".cluster.local.", "198.19.40.7")).Received(4, 4, probe.TypeAAAA, "NOERROR")
		s.EndAttempt(4, 4, probe.OK)
		s.End(4, probe.Ended{Outcome: probe.OK, Addresses: []string{"198.19.40.7"}, DecidedBy: 4, AnsweredBy: "dns"})
	}
	walk("r1", probe.Glibc, "2.36-9+deb12u14")
	walk("c1", probe.Musl, "1.2.5")
	walk("c2", probe.Go, "1.26")
	walk("c3", probe.CAres, "1.34")
	ok := func(id string, libc probe.Libc, version string) probe.LibcResult {
		return probe.LibcResult{
			Resolution: id, Libc: libc, LibcVersion: version, Outcome: probe.OK, Addresses: []string{"198.19.40.7"},
			Attempts: 4, QueriesSent: 8, TransmissionsSent: 8, Duration: Ms(4), DecidedBy: 4, Same: true,
		}
	}
	odd := ok("c3", probe.CAres, "1.34")
	odd.Same, odd.PartsAt, odd.What = false, 4, "attempt 4: glibc sends 1 A and 1 AAAA, c-ares sends 2 A and 1 AAAA"
	return s.Add(probe.Event{Kind: probe.KindComparisons, Comparisons: []probe.Comparison{{Host: host, Libcs: []probe.LibcResult{
		ok("r1", probe.Glibc, "2.36-9+deb12u14"),
		{
			Resolution: "c1", Libc: probe.Musl, LibcVersion: "1.2.5", Outcome: probe.NXDomain, Code: "EAI_NONAME", Attempts: 1, QueriesSent: 2,
			TransmissionsSent: 2, Duration: Ms(1), DecidedBy: 1, PartsAt: 2,
			What: "musl stops after attempt 1, glibc goes on with payments.billing.svc.shop.svc.cluster.local.",
			Why: "musl never searches once the name has ndots dots (2 dots, ndots is 2): it tries the name itself and nothing else; " +
				"glibc goes on with the search list",
		},
		ok("c2", probe.Go, "1.26"), odd,
	}}}})
}

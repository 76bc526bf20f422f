package diagnose

import "testing"

// serverFaults are runs that show the classes of the way to the servers and of the servers themselves, by class.
func serverFaults(t *testing.T) map[string]Input {
	t.Helper()
	out := map[string]Input{}
	for class, m := range map[string]modelled{
		"no-endpoints":       deserted(),
		"egress-blocked":     deniedEgress(),
		"egress-blocked-udp": tcpOnly(),
		"nodelocal-blocked":  uncovered(),
		"mesh-dns":           meshed(),
	} {
		out[class], _ = m.run(t)
	}
	return out
}

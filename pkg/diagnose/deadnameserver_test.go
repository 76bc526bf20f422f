package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// deadFirst is O29: the first of two nameservers never replies.
func deadFirst(id string) trace {
	return trace{id: id, host: "mail.example.net", outcome: probe.OK, tries: []try{
		{
			name: "mail.example.net.", search: -1, outcome: probe.OK,
			a:    []message{lost(), by(dns1, found(ms, "198.51.100.70"))},
			aaaa: []message{lost(), by(dns1, empty(ms))},
		},
	}}
}

func TestDeadNameserverInFull(t *testing.T) {
	settings := probe.Settings{Search: []string{"node.example.com"}, Ndots: 1, Nameservers: []string{"198.19.0.10", "198.19.0.11"}}
	if got := classes(Diagnose(input(settings, deadFirst("1"), deadFirst("2")))); got != "" {
		t.Errorf("two sockets are not enough: %s", got)
	}
	want := `dead-nameserver (warning) nameserver 198.19.0.10 never replied: 0 replies to 6 messages. 198.19.0.11 replied to 6 of 6.
  Each name waits for it first: up to 5.00 s were lost that way here. Both halves of the pair are lost, from every source port tried, so this is no race between them.
  - mail.example.net. A: no reply from 198.19.0.10, 198.19.0.11 replied after another 5.00 s [1 #1]
  > Take the server out: in the node's resolv.conf, or with dnsPolicy None and a nameserver list of your own. | Saves the wait of up to 5.00 s for each name tried. | 
  > Until then set the option timeout to 1 in dnsConfig. | Shortens the wait to 1 s. | Slow but working servers are then given up on as well.
`
	if diff := cmp.Diff(want, told(Diagnose(input(settings, deadFirst("1"), deadFirst("2"), deadFirst("3"))))); diff != "" {
		t.Error(diff)
	}
}

func TestDeadNameserverIsNotClaimedWhere(t *testing.T) {
	tests := map[string]func(*trace){
		"it replied once":        func(tr *trace) { tr.tries[0].a[0] = empty(ms) },
		"its port is closed":     func(tr *trace) { tr.tries[0].a[0] = rcode(probe.ReplyICMPRefused, ms) },
		"it is the only one":     func(tr *trace) { tr.tries[0].a, tr.tries[0].aaaa = tr.tries[0].a[:1], tr.tries[0].aaaa[:1] },
		"the others are as dead": func(tr *trace) { tr.tries[0].a[1], tr.tries[0].aaaa[1] = by(dns1, lost()), by(dns1, lost()) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			var traces []trace
			for _, id := range []string{"1", "2", "3", "4"} {
				tr := deadFirst(id)
				if name != "it replied once" && name != "its port is closed" || id == "2" {
					change(&tr)
				}
				traces = append(traces, tr)
			}
			if got := classes(Diagnose(input(kubernetes(1), traces...))); strings.Contains(got, "dead") {
				t.Errorf("found %q", got)
			}
		})
	}
}

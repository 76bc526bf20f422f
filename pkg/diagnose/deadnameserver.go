package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// deadNameserver: one of several nameservers never answers, and another one answers everything that it left open, at once.
//
// With a single nameserver, silence proves nothing about the server: a blocked path looks the same. And where others are
// silent too, or slow, it is the name that is at fault.
var deadNameserver = rule{class: "dead-nameserver", judge: func(v *view) []probe.Finding {
	if len(v.now) == 0 {
		return nil
	}
	var order []string
	servers := map[string]*tally{}
	for _, r := range v.all {
		v.count(r, func(server string) *tally {
			if servers[server] == nil {
				servers[server] = &tally{sockets: map[socket]bool{}}
				order = append(order, server)
			}
			return servers[server]
		})
	}
	var findings []probe.Finding
	for _, server := range order {
		t := servers[server]
		v.countDirect(server, t)
		if t.replies > 0 || len(t.sockets) < samples || t.rescuedBy == "" || t.rescued < t.open {
			continue
		}
		findings = append(findings, v.deadFinding(server, t, servers[t.rescuedBy]))
	}
	return findings
}, asks: func(v *view) []FollowUp {
	// One sample cannot tell an accident from a fault: the silent server is asked from other source ports.
	var asks []FollowUp
	sent := v.sent()
	for _, s := range askedAt(sent) {
		here := only(sent, udpTo(s))
		if lost := number(here, transmission.lost); lost > 0 && lost == len(here) && lost < len(sent) && s.IsValid() {
			asks = append(asks, ask(over(s, probe.UDP), here[0].a.Name, here[0].q.Type).again(samples-1))
		}
	}
	return asks
}, page: page{
	needs:    "No reply from the server on three source ports at least, and another server that answered each message which this one left open.",
	remedies: "Take the server out of the list: in the node's resolv.conf, or with dnsPolicy None. Until then a timeout of 1 s.",
	wrong: "half-pair-loss with single-request: both halves are lost, each time. rotate only halves the wait: every second lookup then begins with the " +
		"dead server.",
}}

// socket is a source port: the numbers of sockets are those of a resolution.
type socket struct {
	resolution string
	number     int
}

// tally is what a run knows of a nameserver.
type tally struct {
	sent, replies int
	sockets       map[socket]bool
	// open counts the messages that this server left unanswered, rescued those after which another one replied at once.
	open, rescued int
	// rescuedBy is a server that did.
	rescuedBy string
	// waited is the longest time that a query waited for this server before it went to another.
	waited probe.Millis
	// first points at the first query left open.
	first probe.Evidence
}

// count adds the transmissions of r to the tallies.
func (v *view) count(r *probe.Resolution, of func(server string) *tally) {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		for _, q := range a.Queries {
			for j, sent := range q.Transmissions {
				if sent.Reply == probe.ReplyAbandoned {
					// The libc did not wait for it: it may have been answered.
					continue
				}
				t := of(sent.Server)
				t.sent++
				t.sockets[socket{r.ID, sent.Socket}] = true
				if sent.Received != nil || sent.Reply != probe.ReplyLost {
					t.replies++
					continue
				}
				t.open++
				for _, later := range q.Transmissions[j+1:] {
					if later.Server == sent.Server || later.Received == nil || later.Ambiguous || *later.Received-later.Sent >= slow {
						continue
					}
					t.rescued++
					t.rescuedBy = later.Server
					t.waited = max(t.waited, later.Sent-sent.Sent)
					if t.first.Attempt == 0 {
						t.first = at(r, a, fmt.Sprintf("%s %s: no reply from %s, %s replied after another %s", clean(a.Name), q.Type,
							clean(host(sent.Server)), clean(host(later.Server)), took(later.Sent-sent.Sent)))
					}
					break
				}
			}
		}
	}
}

// countDirect adds what came of direct questions to a server.
func (v *view) countDirect(server string, t *tally) {
	for _, m := range v.heard(over(addressOf(server), probe.UDP), "") {
		t.sent++
		t.sockets[m.flow()] = true
		if !m.lost() {
			t.replies++
		}
	}
}

func (v *view) deadFinding(server string, t, rescuer *tally) probe.Finding {
	return probe.Finding{
		Severity: severity(v.now[0]),
		Title: fmt.Sprintf("nameserver %s never replied: 0 replies to %s. %s replied to %d of %d.", clean(host(server)),
			count(t.sent, "message", "messages"), clean(host(t.rescuedBy)), rescuer.replies, rescuer.sent),
		Explain: fmt.Sprintf("Each name waits for it first: up to %s were lost that way here. Both halves of the pair are lost, from every source "+
			"port tried, so this is no race between them.", took(t.waited)),
		Evidence: []probe.Evidence{t.first},
		Remedies: []probe.Remedy{
			{
				Text: "Take the server out: in the node's resolv.conf, or with dnsPolicy None and a nameserver list of your own.",
				Gain: fmt.Sprintf("Saves the wait of up to %s for each name tried.", took(t.waited)),
			},
			{
				Text: "Until then set the option timeout to 1 in dnsConfig.", Gain: "Shortens the wait to 1 s.",
				Caveat: "Slow but working servers are then given up on as well.",
			},
		},
	}
}

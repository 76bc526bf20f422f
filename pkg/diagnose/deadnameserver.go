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
		if t.replies > 0 || len(t.sockets) < samples || t.rescuedBy == "" || t.rescued < t.open {
			continue
		}
		findings = append(findings, v.deadFinding(server, t, servers[t.rescuedBy]))
	}
	return findings
}, asks: func(v *view) []FollowUp {
	// One sample cannot tell an accident from a fault. Losses other than of a whole server or a whole name stay as they are:
	// repeating them would take their time and prove nothing.
	var asks []FollowUp
	for _, r := range v.now {
		if partlySilent(r) {
			asks = append(asks, FollowUp{Ask: probe.Ask{Host: r.Host, Purpose: probe.PurposeRepeat}, Times: samples - 1})
		}
	}
	return asks
}}

// partlySilent says whether a server or a name got no reply at all in r, while another server or name did.
func partlySilent(r *probe.Resolution) bool {
	servers, names := map[string]bool{}, map[string]bool{}
	for _, a := range r.Attempts {
		for _, q := range a.Queries {
			for _, t := range q.Transmissions {
				if t.Reply == probe.ReplyAbandoned {
					continue
				}
				servers[t.Server] = servers[t.Server] || t.Reply != probe.ReplyLost
				names[a.Name] = names[a.Name] || t.Reply != probe.ReplyLost
			}
		}
	}
	return mixed(servers) || mixed(names)
}

// mixed says whether some are answered and some are not.
func mixed(answered map[string]bool) bool {
	yes, no := false, false
	for _, a := range answered {
		yes, no = yes || a, no || !a
	}
	return yes && no
}

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

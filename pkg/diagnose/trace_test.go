package diagnose

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// The traces of these tests are told as events, as a resolver tells them, and folded by probe.Fold: a rule never sees a
// resolution of a shape that no resolver could have made.

const (
	dns0 = "198.19.0.10:53"
	dns1 = "198.19.0.11:53"
)

// message is one transmission of a query and what came of it.
type message struct {
	server string
	// reply is an rcode, or one of probe.ReplyLost, probe.ReplyICMPRefused.
	reply string
	// after is the time to the reply, or until the resolver gave up.
	after time.Duration
	// addresses are the answers.
	addresses []string
	soa       uint32
	tcp       bool
	// tc says that the reply is cut.
	tc bool
	// flags are those of the reply, besides TC; alias is what its first record, a CNAME of the name that was asked, points to.
	flags []string
	alias string
	// use is what the libc did with the reply, probe.UseAccepted where it is empty.
	use string
}

func nx(after time.Duration) message {
	return message{server: dns0, reply: "NXDOMAIN", after: after, soa: 30}
}

func empty(after time.Duration) message {
	return message{server: dns0, reply: "NOERROR", after: after}
}

func rcode(word string, after time.Duration) message {
	return message{server: dns0, reply: word, after: after}
}
func lost() message { return message{server: dns0, reply: probe.ReplyLost, after: 5 * time.Second} }
func found(after time.Duration, addresses ...string) message {
	return message{server: dns0, reply: "NOERROR", after: after, addresses: addresses}
}

// by sends m to another server.
func by(server string, m message) message {
	m.server = server
	return m
}

// try is one attempt: the messages for A and for AAAA, each sent when the one before was given up.
type try struct {
	name    string
	search  int // -1 for as-is
	outcome probe.Outcome
	a, aaaa []message
}

// pair is a try whose two queries were answered at once.
func pair(name string, search int, outcome probe.Outcome, a, aaaa message) try {
	return try{name: name, search: search, outcome: outcome, a: []message{a}, aaaa: []message{aaaa}}
}

// denied is a try that was answered NXDOMAIN after a time.
func denied(name string, search int, after time.Duration) try {
	return pair(name, search, probe.NXDomain, nx(after), nx(after))
}

// trace tells a resolution.
type trace struct {
	id, host, variant string
	outcome           probe.Outcome
	code              string
	tries             []try
	// decidedBy is the number of the deciding try, 0 for the last one, -1 for none.
	decidedBy int
	by        string
	addresses []string
	// libc is glibc where it is empty.
	libc    probe.Libc
	version string
	// question is set where a server was asked directly.
	question *probe.Question
}

// said is the reply of a server to a direct question: the outcome, and addresses when it has the name.
func said(server, name string, outcome probe.Outcome, addresses ...string) trace {
	q := probe.Question{Server: server}
	t := trace{id: "at " + server + " " + name, host: name, variant: q.Label(), outcome: outcome, addresses: addresses, question: &q}
	a, aaaa := empty(ms), empty(ms)
	switch outcome {
	case probe.NXDomain:
		a, aaaa = nx(ms), nx(ms)
	case probe.OK:
		a = found(ms, addresses...)
	case probe.Again:
		a, aaaa = lost(), lost()
		outcome = probe.Timeout
	}
	t.tries = []try{pair(name+".", -1, outcome, by(server+":53", a), by(server+":53", aaaa))}
	return t
}

func (t trace) events() []probe.Event {
	variant := t.variant
	if variant == "" {
		variant = probe.VariantNow
	}
	id := t.id
	if id == "" {
		id = "r-" + t.host + "-" + variant
	}
	var events []probe.Event
	add := func(at time.Duration, ev probe.Event) {
		ev.Resolution, ev.At = id, probe.Millis(at)
		events = append(events, ev)
	}
	add(0, probe.Event{Kind: probe.KindBegin, Begin: t.begin(variant)})
	var clock time.Duration
	for i, try := range t.tries {
		n := i + 1
		origin := probe.OriginSearch
		if try.search < 0 {
			origin = probe.OriginAsIs
		}
		add(clock, probe.Event{Kind: probe.KindAttempt, Attempt: &probe.Try{N: n, Name: try.name, Origin: origin, SearchIndex: try.search}})
		end := clock
		end = max(end, tell(add, clock, n, try.name, probe.TypeA, try.a), tell(add, clock, n, try.name, probe.TypeAAAA, try.aaaa))
		clock = end
		add(clock, probe.Event{Kind: probe.KindAttemptEnded, AttemptEnded: &probe.AttemptEnded{N: n, Outcome: try.outcome}})
	}
	decidedBy := t.decidedBy
	if decidedBy == 0 {
		decidedBy = len(t.tries)
	}
	by := t.by
	if by == "" {
		by = "dns"
	}
	add(clock, probe.Event{Kind: probe.KindEnded, Ended: &probe.Ended{
		Outcome: t.outcome, Code: t.code, Addresses: t.addresses, DecidedBy: max(decidedBy, 0), AnsweredBy: by,
	}})
	return events
}

func (t trace) begin(variant string) *probe.Begin {
	begin := &probe.Begin{Host: t.host, Variant: variant, Libc: t.libc, LibcVersion: t.version, Source: probe.Measured, Question: t.question}
	if begin.Libc == "" {
		begin.Libc = probe.Glibc
	}
	if t.question != nil {
		begin.Libc, begin.Purpose = "direct", probe.PurposeTest
	}
	return begin
}

// tell tells the messages of a query and returns when the last one came to its end.
func tell(add func(time.Duration, probe.Event), clock time.Duration, n int, name string, kind probe.QueryType, messages []message) time.Duration {
	ref := probe.Ref{Attempt: n, Type: kind}
	id := uint16(n * 2)
	if kind == probe.TypeAAAA {
		id++
	}
	for i, m := range messages {
		// A server has its own socket in each attempt.
		socket := n * 10
		if m.server != dns0 {
			socket++
		}
		transport := probe.UDP
		if m.tcp {
			transport, socket = probe.TCP, socket+5
		}
		add(clock, probe.Event{Kind: probe.KindSent, Sent: &probe.Sent{Ref: ref, Try: i + 1, Server: m.server, Transport: transport, Socket: socket, ID: id}})
		clock += m.after
		switch m.reply {
		case probe.ReplyLost, probe.ReplyICMPRefused, probe.ReplyUnreachable, probe.ReplyClosed, probe.ReplyAbandoned:
			add(clock, probe.Event{Kind: probe.KindLost, Lost: &probe.Lost{Ref: ref, Socket: socket, ID: id, Reason: m.reply}})
			continue
		}
		reply := &probe.Received{Ref: ref, Server: m.server, Transport: transport, Socket: socket, ID: id, Rcode: m.reply, Use: probe.UseAccepted}
		reply.Flags = m.flags
		if m.use != "" {
			reply.Use = m.use
		}
		if m.tc {
			reply.Flags = append([]string{"TC"}, m.flags...)
		}
		if m.alias != "" {
			reply.Answers = append(reply.Answers, probe.Answer{Name: name, Type: "CNAME", TTL: 60, Data: m.alias})
		}
		for _, a := range m.addresses {
			reply.Answers = append(reply.Answers, probe.Answer{Name: "x.", Type: string(kind), TTL: 60, Data: a})
		}
		if m.soa > 0 {
			reply.SOAMinimum = &m.soa
		}
		add(clock, probe.Event{Kind: probe.KindReceived, Received: reply})
	}
	return clock
}

// kubernetes are the settings of a pod with dnsPolicy ClusterFirst on a node with one search domain of its own.
func kubernetes(ndots int) probe.Settings {
	return probe.Settings{
		Nameservers: []string{"198.19.0.10"}, Ndots: ndots, TimeoutSeconds: 5, Attempts: 2,
		Search: []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "ec2.internal"},
	}
}

// input folds traces into a run under settings.
func input(settings probe.Settings, traces ...trace) Input {
	var f probe.Fold
	f.Add(probe.Event{Kind: probe.KindSettings, Settings: &settings})
	for _, t := range traces {
		for _, ev := range t.events() {
			f.Add(ev)
		}
	}
	return Input{Run: f.Run()}
}

// told writes findings the way a test reads them: class, severity and title, then all else indented.
func told(findings []probe.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s (%s) %s\n  %s\n", f.Class, f.Severity, f.Title, f.Explain)
		for _, e := range f.Evidence {
			fmt.Fprintf(&b, "  - %s", e.Text)
			if e.Resolution != "" {
				fmt.Fprintf(&b, " [%s #%d]", e.Resolution, e.Attempt)
			}
			b.WriteString("\n")
		}
		for _, r := range f.Remedies {
			fmt.Fprintf(&b, "  > %s | %s | %s\n", r.Text, r.Gain, r.Caveat)
		}
	}
	return b.String()
}

// classes are the classes of findings, in order.
func classes(findings []probe.Finding) string {
	var words []string
	for _, f := range findings {
		words = append(words, f.Class)
	}
	return strings.Join(words, " ")
}

// classic is the classic walk of screens.md: 3 search domains of the cluster in 0.4 ms each, one of the cloud, the host.
func classic() trace {
	const ms = time.Millisecond
	return trace{
		host: "api.stripe.com", outcome: probe.OK, addresses: []string{"203.0.113.7"},
		tries: []try{
			denied("api.stripe.com.shop.svc.cluster.local.", 0, 400*time.Microsecond),
			denied("api.stripe.com.svc.cluster.local.", 1, 400*time.Microsecond),
			denied("api.stripe.com.cluster.local.", 2, 400*time.Microsecond),
			denied("api.stripe.com.ec2.internal.", 3, 42*ms),
			pair("api.stripe.com.", -1, probe.OK, found(4*ms, "203.0.113.7"), empty(4*ms)),
		},
	}
}

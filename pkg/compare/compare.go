// Package compare says where libcs part that were given the same host, the same settings and the same servers, and why.
//
// Every reason is recognised by what the resolutions show and by what each libc makes of resolv.conf; where none fits, only what
// differs is said.
package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

// Libcs compares resolutions of one host by several libcs with the first of them. settings are those that all of them were given, as
// text; hostname is gethostname() where it is known. Resolutions have to be finished.
func Libcs(runs []probe.Resolution, settings probe.Settings, hostname string) probe.Comparison {
	var c probe.Comparison
	for i := range runs {
		result := summary(&runs[i])
		if i == 0 {
			c.Host, result.Same = runs[i].Host, true
		} else {
			p := parting(newSide(&runs[0], settings, hostname), newSide(&runs[i], settings, hostname))
			result.Same, result.PartsAt, result.What, result.Why = p.same, p.at, clean(p.what), clean(p.why)
		}
		c.Libcs = append(c.Libcs, result)
	}
	return c
}

func clean(s string) string { return printable.Text(s, printable.MaxText) }

func summary(r *probe.Resolution) probe.LibcResult {
	out := probe.LibcResult{
		Resolution: r.ID, Libc: r.Libc, LibcVersion: r.LibcVersion, Outcome: r.Outcome, Code: r.Code, Addresses: r.Addresses,
		Attempts: len(r.Attempts), QueriesSent: r.QueriesSent, TransmissionsSent: r.TransmissionsSent, Duration: r.Duration,
	}
	if out.Addresses == nil {
		out.Addresses = []string{}
	}
	for i := range r.Attempts {
		if r.Attempts[i].Decided {
			out.DecidedBy = r.Attempts[i].N
		}
	}
	return out
}

// side is one of the two that are compared.
type side struct {
	*probe.Resolution
	conf resolvconf.Config
	env  map[string]string
	raw  string
}

func newSide(r *probe.Resolution, s probe.Settings, hostname string) side {
	in := resolvconf.Inputs{Hostname: hostname, Env: s.Env, Version: r.LibcVersion}
	conf, err := resolvconf.Parse(resolvconf.Libc(r.Libc), s.Raw, in)
	if err != nil {
		// A libc whose dialect is not known: no reason will be found in its settings.
		conf = resolvconf.Config{}
	}
	return side{Resolution: r, conf: conf, env: s.Env, raw: s.Raw}
}

// name is the libc as people call it.
func (s side) name() string {
	switch s.Libc {
	case probe.Go:
		return "Go"
	case probe.CAres:
		return "c-ares"
	}
	return string(s.Libc)
}

// attempt returns attempt i, nil where there is none.
func (s side) attempt(i int) *probe.Attempt {
	if i < 0 || i >= len(s.Attempts) {
		return nil
	}
	return &s.Attempts[i]
}

// part is where two sides part.
type part struct {
	same      bool
	at        int
	what, why string
}

// parting finds the first point at which b parts from a, and its reason. A difference in what is tried or what comes of it is looked
// for first: where both do the same with other messages or in another time, that is all there is to say.
func parting(a, b side) part {
	i, what := fork(a, b)
	if what == "" {
		if i, what = manner(a, b); what == "" {
			return part{same: true}
		}
	}
	p := part{what: what, why: reason(a, b, i)}
	if b.attempt(i) != nil || a.attempt(i) != nil {
		p.at = i + 1
	}
	return p
}

// fork returns the index of the first attempt that only one side makes, that is for another name, or that ends otherwise, and says
// what differs; what is empty when there is none and the outcomes are the same.
func fork(a, b side) (i int, what string) {
	for ; ; i++ {
		x, y := a.attempt(i), b.attempt(i)
		switch {
		case x == nil && y == nil:
			if a.Outcome != b.Outcome || !sameSet(a.Addresses, b.Addresses) {
				return i - 1, fmt.Sprintf("%s %s, %s %s", a.name(), ended(a), b.name(), ended(b))
			}
			return 0, ""
		case x == nil:
			return i, fmt.Sprintf("%s stops %s, %s goes on with %s", a.name(), after(i), b.name(), y.Name)
		case y == nil:
			return i, fmt.Sprintf("%s stops %s, %s goes on with %s", b.name(), after(i), a.name(), x.Name)
		case x.Name != y.Name:
			return i, fmt.Sprintf("attempt %d: %s tries %s, %s tries %s", i+1, a.name(), x.Name, b.name(), y.Name)
		case worse(x.Outcome) != worse(y.Outcome):
			return i, fmt.Sprintf("attempt %d, %s: %s takes it for %s, %s for %s", i+1, x.Name, a.name(), word(x), b.name(), word(y))
		}
	}
}

// worse puts outcomes of attempts together that mean the same to a walk: libcs differ in how they call a server that is of no use.
func worse(o probe.Outcome) probe.Outcome {
	switch o {
	case probe.OK, probe.NXDomain, probe.NoData:
		return o
	}
	return probe.Fail
}

func word(a *probe.Attempt) string {
	switch a.Outcome {
	case probe.OK:
		return "an answer"
	case probe.NXDomain:
		return "a name that does not exist"
	case probe.NoData:
		return "a name without an address"
	case probe.Timeout, probe.Again:
		return "a timeout"
	case "":
		return "unfinished"
	}
	return strings.ToUpper(string(a.Outcome))
}

// after says after which attempt something happens.
func after(n int) string {
	if n == 0 {
		return "before any attempt"
	}
	return fmt.Sprintf("after attempt %d", n)
}

func ended(s side) string {
	if s.Outcome == probe.OK {
		return "resolves to " + strings.Join(s.Addresses[:min(len(s.Addresses), 2)], ", ")
	}
	code := ""
	if s.Code != "" {
		code = " (" + s.Code + ")"
	}
	return "ends with " + string(s.Outcome) + code
}

// A time that differs by more than these is no accident of one run.
const (
	noticeable = 200 * time.Millisecond
	share      = 10
)

// manner returns the first attempt that both make with the same outcome, but with other messages or in another time.
func manner(a, b side) (i int, what string) {
	for i := range a.Attempts {
		x, y := a.attempt(i), b.attempt(i)
		if y == nil {
			break
		}
		dx, dy := messages(x), messages(y)
		late := apart(x.Duration, y.Duration)
		sx, sy := asked(x), asked(y)
		switch {
		case len(sx) > 0 && len(sy) > 0 && !slices.Contains(sy, sx[0]):
			return i, fmt.Sprintf("attempt %d: %s asks %s first, %s asks %s", i+1, a.name(), sx[0], b.name(), sy[0])
		case dx != dy && late:
			return i, fmt.Sprintf("attempt %d: %s sends %s in %s, %s sends %s in %s", i+1, a.name(), dx, seconds(x.Duration), b.name(), dy, seconds(y.Duration))
		case dx != dy:
			return i, fmt.Sprintf("attempt %d: %s sends %s, %s sends %s", i+1, a.name(), dx, b.name(), dy)
		case late:
			return i, fmt.Sprintf("attempt %d: %s takes %s, %s takes %s", i+1, a.name(), seconds(x.Duration), b.name(), seconds(y.Duration))
		}
	}
	return 0, ""
}

func apart(x, y probe.Millis) bool {
	d := max(x, y) - min(x, y)
	return d.Duration() > noticeable && d > max(x, y)/share
}

// messages counts the transmissions of an attempt: "2 A and 1 AAAA", with the transport where it is not UDP.
func messages(a *probe.Attempt) string {
	var list []string
	for _, typ := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
		for _, over := range []probe.Transport{probe.UDP, probe.TCP} {
			n := 0
			for _, t := range sent(a, typ) {
				if t.Transport == over {
					n++
				}
			}
			if n == 0 {
				continue
			}
			text := fmt.Sprintf("%d %s", n, typ)
			if over == probe.TCP {
				text += " over TCP"
			}
			list = append(list, text)
		}
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, " and ")
}

// sent returns the messages of one type.
func sent(a *probe.Attempt, typ probe.QueryType) []probe.Transmission {
	for i := range a.Queries {
		if a.Queries[i].Type == typ {
			return a.Queries[i].Transmissions
		}
	}
	return nil
}

func seconds(m probe.Millis) string {
	if m.Duration() < time.Second {
		return fmt.Sprintf("%.0f ms", float64(m.Duration())/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.1f s", m.Duration().Seconds())
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

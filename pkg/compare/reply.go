package compare

import (
	"fmt"
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// rotates: which server comes first is another one in every process or lookup.
func rotates(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if ax == nil || ay == nil || !x.conf.Rotate || len(asked(ax)) == 0 || slices.Contains(asked(ay), asked(ax)[0]) {
		return ""
	}
	return fmt.Sprintf("rotate in resolv.conf: which server %s asks first changes from one lookup to the next", x.name())
}

// noAAAA: only some libcs know the option.
func noAAAA(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if ax == nil || ay == nil || !x.conf.NoAAAA || y.conf.NoAAAA || sent(ax, probe.TypeAAAA) != nil || sent(ay, probe.TypeAAAA) == nil {
		return ""
	}
	return fmt.Sprintf("no-aaaa in resolv.conf keeps %s from asking for AAAA; %s does not heed it", x.name(), y.name())
}

// overTCP: only some libcs know use-vc.
func overTCP(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if ax == nil || ay == nil || !x.conf.UseVC || !begins(ax, probe.TCP) || !begins(ay, probe.UDP) {
		return ""
	}
	return fmt.Sprintf("use-vc in resolv.conf has %s ask over TCP; %s does not heed it", x.name(), y.name())
}

func begins(a *probe.Attempt, over probe.Transport) bool {
	for _, typ := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
		if list := sent(a, typ); len(list) > 0 {
			return list[0].Transport == over
		}
	}
	return false
}

// half is what came of one half of a pair.
type half int

const (
	unasked half = iota
	silent
	rejected
	negative // NXDOMAIN
	empty
	address
)

func halfOf(a *probe.Attempt, typ probe.QueryType) half {
	h := unasked
	for i := range a.Queries {
		q := &a.Queries[i]
		if q.Type != typ {
			continue
		}
		h = silent
		for _, t := range q.Transmissions {
			switch {
			case t.Use == probe.UseRejected && h == silent:
				h = rejected
			case t.Use == probe.UseAccepted && t.Reply == "NXDOMAIN":
				h = negative
			case t.Use == probe.UseAccepted:
				h = empty
			}
		}
		for _, r := range q.Answers {
			if r.Type == string(typ) && h == empty {
				h = address
			}
		}
	}
	return h
}

// uneven returns the half of an attempt that has an address and the other one, whose fate is fate; ok is false when there is no such pair.
func uneven(a *probe.Attempt, fate half) (good, bad probe.QueryType, ok bool) {
	if a == nil {
		return "", "", false
	}
	switch v4, v6 := halfOf(a, probe.TypeA), halfOf(a, probe.TypeAAAA); {
	case v4 == address && v6 == fate:
		return probe.TypeA, probe.TypeAAAA, true
	case v6 == address && v4 == fate:
		return probe.TypeAAAA, probe.TypeA, true
	}
	return "", "", false
}

// bothHalves: musl's name_from_dns since 1.2.1 looks at the rcode of both replies before it looks at addresses.
func bothHalves(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if x.Libc != probe.Musl || ax == nil || ay == nil || ax.Outcome == probe.OK || ay.Outcome != probe.OK {
		return ""
	}
	if good, bad, ok := uneven(ax, silent); ok {
		return fmt.Sprintf("musl needs both halves of the pair: it has the %s answer, gets none to %s within %s, and fails; %s", good, bad, seconds(ax.Duration), patience(y, ay))
	}
	if good, bad, ok := uneven(ax, rejected); ok {
		return fmt.Sprintf("musl needs both halves of the pair: it has the %s answer, gets only errors to %s within %s, and fails; %s makes do with the %s answer",
			good, bad, seconds(ax.Duration), y.name(), good)
	}
	if good, bad, ok := uneven(ax, negative); ok {
		return fmt.Sprintf("one half of the pair has an address (%s), the other says that the name does not exist (%s): musl believes the latter, %s the former", good, bad, y.name())
	}
	return ""
}

// firstHalf: once half a pair was lost, glibc's send_dg asks for A, waits, and only then for AAAA.
func firstHalf(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if x.Libc != probe.Glibc || ax == nil || ay == nil || ax.Outcome == probe.OK || ay.Outcome != probe.OK {
		return ""
	}
	if good, bad, ok := uneven(ay, silent); ok && good == probe.TypeAAAA && halfOf(ax, bad) == silent {
		return fmt.Sprintf("after a lost half glibc asks one query after the other, A first: while A stays unanswered it never gets to AAAA, and fails after %s; %s",
			seconds(ax.Duration), patience(y, ay))
	}
	return ""
}

// halfGone: the first query for one half of the pair is answered and that for the other is not; both succeed, each in its own time.
func halfGone(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if ax == nil || ay == nil || ax.Outcome != probe.OK || ay.Outcome != probe.OK {
		return ""
	}
	if bad := lostFirst(ax); bad == "" || lostFirst(ay) != bad {
		return ""
	}
	px, py := patience(x, ax), patience(y, ay)
	return px + "; " + py
}

// lostFirst returns the type whose first query was lost while that of the other was answered, empty where it was not so.
func lostFirst(a *probe.Attempt) probe.QueryType {
	v4, v6 := sent(a, probe.TypeA), sent(a, probe.TypeAAAA)
	switch {
	case len(v4) == 0 || len(v6) == 0:
	case v4[0].Use == probe.UseAccepted && v6[0].Reply == probe.ReplyLost:
		return probe.TypeAAAA
	case v6[0].Use == probe.UseAccepted && v4[0].Reply == probe.ReplyLost:
		return probe.TypeA
	}
	return ""
}

// patience says how a libc goes about an attempt of which one half is not answered at first, or never.
func patience(s side, a *probe.Attempt) string {
	good, bad, ok := uneven(a, silent)
	if !ok {
		return persistence(s, a)
	}
	took := seconds(a.Duration)
	switch s.Libc {
	case probe.Glibc:
		return fmt.Sprintf("glibc asks for both again one after the other, then on sockets of their own, waits out its timeout each time, and makes do with %s after %s", good, took)
	case probe.Go:
		return fmt.Sprintf("Go asks again for %s alone, waits out its timeout %s, and makes do with %s after %s", bad, times(len(sent(a, bad))), good, took)
	case probe.CAres:
		if len(sent(a, bad)) == 1 {
			return fmt.Sprintf("c-ares does not ask again for %s once it has the %s answer, and makes do with that after %s", bad, good, took)
		}
		return fmt.Sprintf("c-ares asks for %s %s and makes do with %s after %s", bad, times(len(sent(a, bad))), good, took)
	}
	return fmt.Sprintf("%s makes do with %s after %s", s.name(), good, took)
}

// persistence says how a libc came by both halves although the first query for one was lost.
func persistence(s side, a *probe.Attempt) string {
	bad := lostFirst(a)
	if bad == "" || len(sent(a, bad)) < 2 {
		return s.name() + " gets both"
	}
	again := seconds(sent(a, bad)[1].Sent - a.Start)
	if s.Libc == probe.Glibc {
		return "glibc asks for both again after " + again
	}
	return fmt.Sprintf("%s asks again for %s alone after %s", s.name(), bad, again)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// truncated: a reply with TC leads to TCP or does not, for one query or for both.
func truncated(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if ax == nil || ay == nil || !hasTC(ax) || !hasTC(ay) {
		return ""
	}
	nx, ny := overTCPCount(ax), overTCPCount(ay)
	switch {
	case nx == 0 && ny > 0:
		return fmt.Sprintf("%s takes a truncated reply as it is (musl does before 1.2.4); %s asks again over TCP", x.name(), y.name())
	case x.Libc == probe.Glibc && nx > ny:
		return fmt.Sprintf("after a truncated reply glibc asks for both types again over TCP; %s only for the truncated one", y.name())
	}
	return ""
}

func hasTC(a *probe.Attempt) bool {
	for i := range a.Queries {
		for _, t := range a.Queries[i].Transmissions {
			for _, f := range t.Flags {
				if f == "TC" {
					return true
				}
			}
		}
	}
	return false
}

func overTCPCount(a *probe.Attempt) int {
	n := 0
	for i := range a.Queries {
		for _, t := range a.Queries[i].Transmissions {
			if t.Transport == probe.TCP {
				n++
			}
		}
	}
	return n
}

// allAtOnce: musl's __res_msend_rc sends every query to every server and takes the first reply of NOERROR or NXDOMAIN.
func allAtOnce(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if x.Libc != probe.Musl || ax == nil || ay == nil || len(asked(ax)) < 2 {
		return ""
	}
	return fmt.Sprintf("musl asks all %d servers at once and takes the first answer, whether that has an address or not; %s asks one after the other", len(asked(ax)), y.name())
}

// contentWithHalf: glibc is done when one reply of the pair is accepted and the other is an error.
func contentWithHalf(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if x.Libc != probe.Glibc || ax == nil || ay == nil {
		return ""
	}
	for _, pair := range [][2]probe.QueryType{{probe.TypeA, probe.TypeAAAA}, {probe.TypeAAAA, probe.TypeA}} {
		good, bad := pair[0], pair[1]
		if halfOf(ax, good) > rejected && halfOf(ax, bad) == rejected && len(sent(ax, bad)) == 1 && len(sent(ay, bad)) > 1 {
			return fmt.Sprintf("glibc is content when one half of the pair is answered (%s) and does not ask again for the one with an error (%s); %s does", good, bad, y.name())
		}
	}
	return ""
}

// wholeSilence: nothing was answered on either side, and each waits in its own way.
func wholeSilence(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if ax == nil || ay == nil || !mute(ax) || !mute(ay) {
		return ""
	}
	return waiting(x, ax) + "; " + waiting(y, ay)
}

func mute(a *probe.Attempt) bool {
	none := true
	for _, typ := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
		none = none && halfOf(a, typ) <= silent
		for _, t := range sent(a, typ) {
			if t.Reply != probe.ReplyLost && t.Reply != probe.ReplyAbandoned {
				return false
			}
		}
	}
	return none
}

func waiting(s side, a *probe.Attempt) string {
	took := seconds(a.Duration)
	switch s.Libc {
	case probe.Musl:
		return fmt.Sprintf("musl shares one timeout among all its tries and gives up on the name after %s", took)
	case probe.CAres:
		return fmt.Sprintf("c-ares waits longer with every round over the servers and gives up on the name after %s", took)
	}
	return fmt.Sprintf("%s waits out a timeout for every try and gives up on the name after %s", s.name(), took)
}

// insists: musl asks again at once after SERVFAIL, and takes other errors for no reply at all, until its time is over.
func insists(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if x.Libc != probe.Musl || ax == nil || ay == nil || worse(ax.Outcome) != probe.Fail || worse(ay.Outcome) != probe.Fail || !apart(ax.Duration, ay.Duration) {
		return ""
	}
	switch ay.Outcome {
	case probe.ServFail:
		return fmt.Sprintf("musl asks again after SERVFAIL until its time is over (%s); %s has had enough after %s", seconds(ax.Duration), y.name(), seconds(ay.Duration))
	case probe.Refused, probe.FormErr, probe.NotImp:
		return fmt.Sprintf("musl takes a reply with an error for no reply and waits on (%s); %s heeds it after %s", seconds(ax.Duration), y.name(), seconds(ay.Duration))
	case probe.Unreachable:
		return fmt.Sprintf("musl does not hear that a port is closed (ICMP) and waits in vain (%s); %s does", seconds(ax.Duration), y.name())
	}
	return ""
}

// cutReply: without EDNS a server cuts its replies at 512 bytes (RFC 1035 section 2.3.4).
func cutReply(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if ax == nil || ay == nil || !hasTC(ax) || hasTC(ay) || x.conf.EDNS0 || x.Libc != probe.Glibc && x.Libc != probe.Musl || y.Libc != probe.Go && y.Libc != probe.CAres {
		return ""
	}
	return fmt.Sprintf("%s asks without EDNS, so the server cuts its reply at 512 bytes and TCP is needed for the rest; %s has room for 1232 bytes", x.name(), y.name())
}

// firstWait is how long the first query of a type waited in vain before the next one or the end, 0 when it was answered.
func firstWait(a *probe.Attempt, typ probe.QueryType) probe.Millis {
	list := sent(a, typ)
	switch {
	case len(list) == 0 || list[0].Reply != probe.ReplyLost:
		return 0
	case len(list) > 1:
		return list[1].Sent - list[0].Sent
	}
	return a.Start + a.Duration - list[0].Sent
}

// tooSlow: a reply that one side waits for comes after the other has given up.
func tooSlow(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if ax == nil || ay == nil || worse(ax.Outcome) != probe.Fail || worse(ay.Outcome) == probe.Fail {
		return ""
	}
	for _, typ := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
		wait, list := firstWait(ax, typ), sent(ay, typ)
		if wait == 0 || len(list) == 0 || list[0].Received == nil || *list[0].Received-list[0].Sent <= wait {
			continue
		}
		learns := ""
		if x.Libc == probe.CAres {
			learns = ", which it learns from how fast earlier replies came"
		}
		return fmt.Sprintf("the reply takes %s: %s waits %s at first%s; %s waits long enough", seconds(*list[0].Received-list[0].Sent), x.name(), seconds(wait), learns, y.name())
	}
	return ""
}

// otherWait: the first query is lost on both sides, and they wait for it in their own way.
func otherWait(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if ax == nil || ay == nil {
		return ""
	}
	for _, typ := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
		wx, wy := firstWait(ax, typ), firstWait(ay, typ)
		if wx > 0 && wy > 0 && apart(wx, wy) {
			return fmt.Sprintf("the first %s query is lost: %s waits %s for it, %s waits %s", typ, x.name(), seconds(wx), y.name(), seconds(wy))
		}
	}
	return ""
}

// lateReply: glibc keeps the socket and the ids of a query over its tries, so a reply to the first one still counts; Go opens a new
// socket for every try.
func lateReply(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if ax == nil || ay == nil || y.Libc != probe.Glibc || worse(ax.Outcome) != probe.Fail || worse(ay.Outcome) == probe.Fail {
		return ""
	}
	for _, typ := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
		list := sent(ay, typ)
		for j, t := range list {
			if t.Received != nil && (j+1 < len(list) && *t.Received > list[j+1].Sent || t.Ambiguous) {
				return fmt.Sprintf("replies come later than the timeout: glibc still takes the one to an earlier try, %s has stopped to listen for it", x.name())
			}
		}
	}
	return ""
}

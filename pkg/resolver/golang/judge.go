package golang

import (
	"errors"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// mismatch says why a message is no reply to the query, empty when it is one (checkResponse). Over TCP it is the error.
func (w *walk) mismatch(reply *resolver.Reply) string {
	if reply.Short || len(reply.Questions) == 0 {
		return textUnmarshal
	}
	q := reply.Questions[0]
	if !reply.Response || reply.ID != w.flight.id || q.Type != resolver.TypeNumber(w.ref.Type) || q.Class != resolver.ClassIN ||
		!resolver.SameName(q.Name, w.name) {
		return textInvalid
	}
	return ""
}

// judge follows checkHeader and skipToAnswer. It returns why the next server is asked; nil ends the walk, with addresses in
// w.addresses or with an error in w.failure.
func (w *walk) judge(reply *resolver.Reply) *failure {
	rcode := reply.Rcode
	if w.r.feat.extendedRcode {
		rcode |= int(reply.RcodeHigh) << 4
	}
	cut := reply.Malformed != nil && len(reply.Answers) < reply.ANCount
	switch {
	case rcode == resolver.RcodeNXDomain:
		w.failure = notFound(probe.NXDomain)
		return nil
	case cut && len(reply.Answers) == 0:
		return &failure{outcome: probe.Fail, text: textUnmarshal}
	case rcode == resolver.RcodeNoError && !reply.AA && !reply.RA && reply.ANCount == 0 && (reply.ARCount == 0 || !w.r.feat.extraNotLame):
		return &failure{outcome: probe.Lame, text: textLame}
	case rcode != resolver.RcodeNoError:
		return &failure{outcome: resolver.RcodeOutcome(rcode), text: textMisbehaving}
	}
	found := false
	for _, a := range reply.Answers {
		if found = found || a.Type == resolver.TypeNumber(w.ref.Type); !found {
			continue
		}
		// Whatever its name and class: Go trusts the server to have followed the aliases.
		if (a.Type == resolver.TypeA || a.Type == resolver.TypeAAAA) && a.Addr.IsValid() {
			w.addresses = append(w.addresses, a.Addr.Unmap())
		}
	}
	switch {
	case !found && cut:
		return &failure{outcome: probe.Fail, text: textUnmarshal}
	case !found:
		w.failure = notFound(probe.NoData)
	case w.req.Record != "":
		w.failure, w.found = nil, true
	case len(w.addresses) == 0:
		w.failure = &failure{outcome: probe.Fail, text: textUnmarshal}
	default:
		w.failure = nil
	}
	return nil
}

// readable is a reply as far as it fits the buffer: the kernel cuts off what is longer without a word.
func (w *walk) readable(reply resolver.Reply, udp bool) resolver.Reply {
	limit := ednsBytes
	if !w.r.feat.edns {
		limit = oldBufferBytes
	}
	if !udp || reply.Size <= limit {
		return reply
	}
	for i, a := range reply.Answers {
		if a.End > limit {
			reply.Answers = reply.Answers[:i]
			break
		}
	}
	reply.Malformed = errCut
	return reply
}

var errCut = errors.New("the message does not fit the buffer")

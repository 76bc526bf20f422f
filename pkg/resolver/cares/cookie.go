package cares

import (
	"bytes"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// cookieState is what is known of a server's cookies (RFC 7873).
type cookieState int

const (
	cookieInitial cookieState = iota
	cookieGenerated
	cookieSupported
	cookieUnsupported
)

// Times and limits of ares_cookie.c.
const (
	clientCookieLife  = 24 * time.Hour
	unsupportedLife   = 5 * time.Minute
	regressionTimeout = 2 * time.Minute
	maxCookieTries    = 3
	clientCookieBytes = 8
	maxCookieBytes    = 40
	rcodeBadCookie    = 23
)

// cookie is the state of a server's cookies.
type cookie struct {
	state          cookieState
	client, server []byte
	made           time.Time
	// failedAt is since when the server sends none; zero when it does.
	failedAt time.Time
}

// apply follows ares_cookie_apply: it puts a cookie into a query, or takes it out.
func (ck *cookie) apply(q *resolver.Query, tcp bool, now time.Time, random func() uint16) {
	q.Cookie = nil
	if q.EDNSSize == 0 || tcp {
		return
	}
	if ck.state == cookieSupported && !ck.failedAt.IsZero() && now.Sub(ck.failedAt) >= regressionTimeout {
		*ck = cookie{}
	}
	if ck.state == cookieUnsupported {
		if now.Sub(ck.failedAt) < unsupportedLife {
			return
		}
		*ck = cookie{}
	}
	if ck.state == cookieInitial || ck.state == cookieSupported && now.Sub(ck.made) >= clientCookieLife {
		ck.generate(now, random)
	}
	if ck.state == cookieInitial {
		ck.state = cookieGenerated
	}
	q.Cookie = append(bytes.Clone(ck.client), ck.server...)
}

func (ck *cookie) generate(now time.Time, random func() uint16) {
	ck.client, ck.server, ck.made = nil, nil, now
	for len(ck.client) < clientCookieBytes {
		r := random()
		ck.client = append(ck.client, byte(r>>8), byte(r))
	}
}

// verdict is what a reply's cookie leads to.
type verdict int

const (
	accept verdict = iota
	drop
	// askAgain drops the reply and sends the query once more.
	askAgain
)

// check follows ares_cookie_validate.
func (ck *cookie) check(q *resolver.Query, r *resolver.Reply, now time.Time) verdict {
	got := r.Cookie
	switch {
	case got != nil && (len(got) < clientCookieBytes || len(got) > maxCookieBytes):
		return drop
	case len(q.Cookie) == 0:
		return accept
	case got != nil && !bytes.Equal(got[:clientCookieBytes], q.Cookie[:clientCookieBytes]):
		return drop
	}
	if len(got) > clientCookieBytes {
		ck.state, ck.failedAt = cookieSupported, time.Time{}
		if bytes.Equal(ck.client, q.Cookie[:clientCookieBytes]) {
			ck.server = bytes.Clone(got[clientCookieBytes:])
		}
	}
	switch {
	case rcodeOf(r) == rcodeBadCookie && got == nil:
		return drop
	case rcodeOf(r) == rcodeBadCookie:
		return askAgain
	case len(got) > clientCookieBytes:
		return accept
	case ck.state == cookieSupported:
		if ck.failedAt.IsZero() {
			ck.failedAt = now
		}
		return drop
	case ck.state == cookieGenerated:
		*ck = cookie{state: cookieUnsupported, failedAt: now}
	}
	return accept
}

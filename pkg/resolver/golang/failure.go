package golang

import (
	"errors"
	"syscall"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// failure is an error of package net.
type failure struct {
	// outcome is why, as an attempt ends.
	outcome probe.Outcome
	// text is what the error says, without names, addresses and ports.
	text string
}

// The errors of dnsclient_unix.go.
const (
	textNotFound     = "no such host"
	textMisbehaving  = "server misbehaving"
	textLame         = "lame referral"
	textTimeout      = "i/o timeout"
	textUnmarshal    = "cannot unmarshal DNS message"
	textInvalid      = "invalid DNS response"
	textNoAnswer     = "no answer from DNS server"
	textCalcLen      = "insufficient data for calculated length type"
	textRefused      = "connection refused"
	textReset        = "connection reset by peer"
	textUnreachable  = "no route to host"
	textConnectTimed = "connection timed out"
)

func notFound(outcome probe.Outcome) *failure { return &failure{outcome: outcome, text: textNotFound} }

// overall is the outcome of a lookup that ends with this error.
func (f *failure) overall() probe.Outcome {
	switch f.outcome {
	case probe.NXDomain, probe.NoData:
		return f.outcome
	case probe.Timeout, probe.ServFail, probe.Refused, probe.NotImp, probe.Lame, probe.Unreachable:
		return probe.Again
	case probe.Unsent:
		if f.text == "" {
			// No address and no error.
			return probe.NoData
		}
	}
	return probe.Fail
}

// ofSocket is the error of a socket. What the system call said counts most: package net says it, too.
func ofSocket(err error) *failure {
	f := &failure{outcome: probe.Unreachable, text: textUnreachable}
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		f.text = errno.Error()
	case errors.Is(err, resolver.ErrRefused):
		f.text = textRefused
	case errors.Is(err, resolver.ErrReset):
		f.text = textReset
	case errors.Is(err, resolver.ErrConnectTimedOut):
		f.text = textConnectTimed
	}
	return f
}

// dialFailed reports whether an error of Open is one that a program in the pod would get, too: it goes on to the next server.
// Others keep this process, not Go's resolver, from having a socket.
func dialFailed(err error) bool {
	for _, e := range []error{
		resolver.ErrUnreachable, resolver.ErrRefused, syscall.EADDRNOTAVAIL, syscall.EINVAL, syscall.ENETDOWN, syscall.EAFNOSUPPORT,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

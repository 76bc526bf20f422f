package cares

import (
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// status is an ares_status_t, by its name in ares.h; empty is ARES_SUCCESS.
type status string

const (
	success     status = ""
	noData      status = "ARES_ENODATA"
	formErr     status = "ARES_EFORMERR"
	servFail    status = "ARES_ESERVFAIL"
	notFound    status = "ARES_ENOTFOUND"
	notImp      status = "ARES_ENOTIMP"
	refused     status = "ARES_EREFUSED"
	badName     status = "ARES_EBADNAME"
	badResp     status = "ARES_EBADRESP"
	connRefused status = "ARES_ECONNREFUSED"
	timedOut    status = "ARES_ETIMEOUT"
)

// outcome is that of a resolution.
func (s status) outcome() probe.Outcome {
	switch s {
	case success:
		return probe.OK
	case notFound:
		return probe.NXDomain
	case noData:
		return probe.NoData
	case servFail, refused, notImp, connRefused, timedOut:
		return probe.Again
	}
	return probe.Fail
}

// attemptOutcome is that of an attempt.
func (s status) attemptOutcome() probe.Outcome {
	switch s {
	case servFail:
		return probe.ServFail
	case refused:
		return probe.Refused
	case notImp:
		return probe.NotImp
	case formErr:
		return probe.FormErr
	case timedOut:
		return probe.Timeout
	case connRefused:
		return probe.Unreachable
	case badName:
		return probe.Unsent
	}
	return s.outcome()
}

// statusOf follows ares_dns_query_reply_tostatus.
func statusOf(rcode, answers int) status {
	switch rcode {
	case resolver.RcodeNoError:
		if answers == 0 {
			return noData
		}
	case resolver.RcodeFormErr:
		return formErr
	case resolver.RcodeServFail:
		return servFail
	case resolver.RcodeNXDomain:
		return notFound
	case resolver.RcodeNotImp:
		return notImp
	case resolver.RcodeRefused:
		return refused
	}
	return success
}

// rejection is the status of a reply that makes c-ares try again, success for others.
func rejection(rcode int) status {
	switch rcode {
	case resolver.RcodeServFail, resolver.RcodeNotImp, resolver.RcodeRefused:
		return statusOf(rcode, 0)
	}
	return success
}

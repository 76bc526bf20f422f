//go:build unix

package dnsnet

import (
	"syscall"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// socketErrors maps system errors to the errors that resolvers tell apart.
var socketErrors = map[error][]error{
	resolver.ErrRefused:         {syscall.ECONNREFUSED},
	resolver.ErrReset:           {syscall.ECONNRESET, syscall.EPIPE},
	resolver.ErrUnreachable:     {syscall.EHOSTUNREACH, syscall.ENETUNREACH},
	resolver.ErrConnectTimedOut: {syscall.ETIMEDOUT},
}

package dnsnet

import (
	"golang.org/x/sys/windows"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// socketErrors maps system errors to the errors that resolvers tell apart. Windows reports a refused UDP port as a reset
// (WSAECONNRESET on recv); on UDP the two mean the same.
var socketErrors = map[error][]error{
	resolver.ErrRefused:         {windows.WSAECONNREFUSED},
	resolver.ErrReset:           {windows.WSAECONNRESET, windows.WSAECONNABORTED},
	resolver.ErrUnreachable:     {windows.WSAEHOSTUNREACH, windows.WSAENETUNREACH},
	resolver.ErrConnectTimedOut: {windows.WSAETIMEDOUT},
}

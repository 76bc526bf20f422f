// Package dnsnet is the resolver.Network of real sockets, and the one place where DNS messages are turned into bytes and
// back (by miekg/dns).
//
// On Linux it drives raw non-blocking sockets with one ppoll, as a libc does, so that the sharing of sockets, the order of
// packets and the lateness of timers are the libc's: races and losses hit it as they hit the application. Elsewhere it is
// built on package net, without kernel timestamps and without seeing ICMP errors other than a refused port.
package dnsnet

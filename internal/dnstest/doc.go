// Package dnstest serves a simnet.World on real sockets of this machine's loopback, UDP and TCP on one port, and notes down
// what it was asked. What a server does is decided by the same function as in virtual time (simnet.World.React), so that a
// test can run the same case on both.
package dnstest

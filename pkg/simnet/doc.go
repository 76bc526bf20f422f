// Package simnet models DNS servers and the network in front of them, in virtual time.
//
// World is data: which servers are alive and what they do with which query. React is a pure function from a query to what
// comes back, so that the same World can also be served on real sockets. Network implements resolver.Network over a World:
// waiting costs nothing, an outage of 40 s takes microseconds, and the same seed gives the same run.
package simnet

// Package golang follows the resolver in Go's package net (Resolver.LookupIPAddr, and LookupIP for one family), query by
// query, over a resolver.Network. It also says when a program built with cgo leaves a lookup to libc.
//
// It is written from the behaviour of Go 1.26 without cgo, observed and read in its source; what other releases do differently
// is listed in version.go. Comments name the Go function that a part follows.
//
// One thing is not followed since it cannot be: the A and the AAAA query of a pair are asked by two goroutines, so that their
// order on the wire, and with it the order of addresses that sort equal, is the scheduler's. Here A goes first.
package golang

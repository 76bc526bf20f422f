// Package patch chooses the change of a workload's dnsConfig and writes it down: as a strategic merge patch, as a command that
// can be pasted, as a diff, with what happens on apply and how to take it back.
//
// It decides on values only: what the names in use do under each value of ndots was found out before, by running the
// resolver.
package patch

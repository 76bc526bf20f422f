// Package cli is the command line: one file a command, each with Complete (flags, environment and kubeconfig become values),
// Validate (no I/O, no printing) and Run. What a command finds out is a stream of probe events; present shows it.
//
// It wires the other packages together and decides nothing about DNS.
package cli

//go:generate go test . -run "TestReadmeIsCurrent|TestRBACPageIsCurrent" -update

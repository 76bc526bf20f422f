// Package caller says how programs call the resolvers that this tool follows: with which families and flags, with which queries
// beside them, and in what order. It holds data only; pkg/engine carries it out.
//
// Every statement is marked: observed by running the program, or documented (its source or its manual says so). What is neither
// is not in here.
package caller

//go:generate go test . -run TestCallersPageIsCurrent -update-docs

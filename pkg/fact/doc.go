// Package fact is the language of facts about pod, node and cluster: which there are, and how the value of each is written. Those
// who read a cluster write values with it, those who judge read them with it, and people can do both: a scenario file states
// facts as text.
//
// A value that cannot be read is an unknown fact with that as the reason, never an error: facts come from outside.
package fact

// Package engine carries out one ask over one network: it applies the variant to the settings, picks the libc's resolver,
// and turns what it does into the events of one resolution.
//
// Where the resolution takes place (a pod, this machine, a model) is the caller's: the engine gets the settings and the
// network as functions.
package engine

// Package probe holds the words everything else speaks: resolutions, attempts, queries and transmissions, the events they
// are made of, the fold from events to a run, and the NDJSON codec of the event stream.
//
// It decides nothing and touches no socket, API server or terminal. Its JSON forms are the public contract
// (schema dnsprobe.v1): fields are only ever added.
package probe

// Package cluster is the API server's side of a run: it finds the pod that a target means, the workload that owns it, and the facts
// that DNS depends on. It only reads. What may not be read stays unknown, with the permission that would tell.
package cluster

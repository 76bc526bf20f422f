// Package version says which version of the tool this is, and which image its agent comes in. The plugin and the agent share
// it, so it imports nothing.
package version

// Version is the release, set at link time with -X. A plugin and an agent of different versions understand each other as
// far as the session's protocol does.
var Version = "v0.1.0-dev"

// Commit is the commit it was built from, set at link time; empty when unknown.
var Commit = ""

// repository is where the agent's image is published.
const repository = "ghcr.io/kubectl-dnsprobe/dnsprobe-agent"

// Image returns the reference of the agent's image that belongs to this version.
func Image() string { return repository + ":" + Version }

// String returns version and commit for people ("v0.1.0 (1a2b3c4)").
func String() string {
	if Commit == "" {
		return Version
	}
	return Version + " (" + Commit + ")"
}

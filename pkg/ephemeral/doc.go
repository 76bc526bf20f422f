// Package ephemeral is the way into a pod: it decides whether a probe's container may and can be put there (preflight), adds it
// as an ephemeral container or reuses the one that runs, waits for it with the kubelet's own words, and opens the stream to it.
//
// What decides is a function from API objects to values (Judge, Container, Progress); what talks to the API server is a thin
// shell around it. The package changes nothing but pods/ephemeralcontainers, and only by PATCH.
package ephemeral

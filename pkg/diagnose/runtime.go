package diagnose

import (
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// runtimeAdvice is what it means for the number of lookups that the container runs a program of some kind.
type runtimeAdvice struct {
	// images are the names of images that are known to run it.
	images []string
	// name is how people call it, in "the container runs …".
	name   string
	remedy probe.Remedy
}

// advice is by the name of a runtime (probe.Resolver.Runtime; "go" for programs with Go's own resolver). What it says was observed with
// OpenJDK 17, Node 20 and CPython 3.11, and read in net/http of Go 1.26, and in the documentation of nginx and Envoy.
var advice = map[string]runtimeAdvice{
	"go": {
		name: "a Go program",
		remedy: probe.Remedy{
			Text: "In the Go program keep more connections: http.Transport keeps 2 idle ones for a host unless MaxIdleConnsPerHost says more, and every new connection is a lookup of its own. " +
				"Read bodies to the end and close them, else no connection is kept at all.",
			Caveat: "Go has no DNS cache.",
		},
	},
	"node": {
		images: []string{"node"}, name: "Node",
		remedy: probe.Remedy{
			Text:   "In Node use an Agent with keepAlive (the default from Node 19 on): every new connection is a lookup of its own, and Node has no DNS cache.",
			Caveat: "Lookups run two at a time, in half of libuv's four threads: a walk that takes long makes others wait.",
		},
	},
	"jvm": {
		images: []string{"openjdk", "eclipse-temurin", "amazoncorretto"}, name: "a JVM",
		remedy: probe.Remedy{
			Text: "The JVM keeps an answer for 30 s and a failure for 10 s, whatever the TTL: it walks at most once in 30 s for a host. networkaddress.cache.ttl makes that longer.",
			Caveat: "Longer means that the application goes on using addresses that are gone. A failure that DNS has already recovered from lasts 10 s longer " +
				"(networkaddress.cache.negative.ttl).",
		},
	},
	"python": {
		images: []string{"python"}, name: "Python",
		remedy: probe.Remedy{
			Text:   "In Python use one Session (requests) or client (httpx, aiohttp) for all requests: calls without one open a connection, and look the host up, every time.",
			Caveat: "Python has no DNS cache.",
		},
	},
	"nginx": {
		images: []string{"nginx", "openresty"}, name: "nginx",
		remedy: probe.Remedy{
			Text:   "For nginx the walk hardly counts: without `resolver` it looks hosts up once, when it starts, and with it it asks for the name as it is written and keeps the answer for its TTL.",
			Caveat: "Without `resolver` it goes on with addresses that have changed until it is reloaded.",
		},
	},
	"envoy": {
		images: []string{"envoy"}, name: "Envoy",
		remedy: probe.Remedy{
			Text: "In Envoy write hosts with a final dot, or set no_default_search_domain in its DNS resolver: it looks hosts up again and again (every 5 s unless dns_refresh_rate says " +
				"otherwise), and walks each time.",
			Caveat: "The final dot of a cluster's address does not reach TLS or HTTP.",
		},
	},
}

// runtimeRemedies are those that fit what the container runs; none where that is not known.
func (v *view) runtimeRemedies() []probe.Remedy {
	a, how := v.runtime()
	if how == "" {
		return nil
	}
	r := a.remedy
	r.Gain = how
	return []probe.Remedy{r}
}

// runtime returns the advice for what the container runs, and how that is known; empty where it is not.
func (v *view) runtime() (runtimeAdvice, string) {
	if a, ok := advice[v.run.Resolver.Runtime]; ok {
		return a, "the container runs " + a.name
	}
	if libc, _ := v.follows(); libc == probe.Go || v.run.Resolver.Cgo != nil {
		if v.run.Resolver.Source != probe.SourceDetected {
			// The resolver was asked for or assumed: the program can be anything.
			return runtimeAdvice{}, ""
		}
		return advice["go"], "the container runs " + advice["go"].name
	}
	image := v.ownImage()
	for _, key := range []string{"node", "jvm", "python", "nginx", "envoy"} {
		if a := advice[key]; image != "" && slices.Contains(a.images, imageName(image)) {
			return a, "the container's image is " + clean(image)
		}
	}
	return runtimeAdvice{}, ""
}

// ownImage is the image of the target's container, empty where it is not known.
func (v *view) ownImage() string {
	images, _ := v.facts.Text(fact.Images)
	words := strings.Fields(images)
	for _, word := range words {
		name, image, found := strings.Cut(word, "=")
		if found && (name == v.run.Target.Container || v.run.Target.Container == "" && len(words) == 1) {
			return image
		}
	}
	return ""
}

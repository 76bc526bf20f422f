package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// callerNodeResolve is Resolver.Caller for Node's dns.resolve*, which asks for names as they are.
const callerNodeResolve = "node-resolve"

// clientLibrary: the host is found through the search list, which software in this pod does not walk: nginx with `resolver`, Kong and
// others that bring a DNS client of their own, Node's dns.resolve. They ask for the name as it is written, and that does not exist.
var clientLibrary = rule{class: "client-library", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if v.run.Resolver.Caller == callerNodeResolve {
			if known := v.foundUnsearched(r); known != nil {
				findings = append(findings, v.libraryFinding(r, known, canonical(known.Host), "Node's dns.resolve"))
			}
			continue
		}
		client, d := v.ownClient(), searched(r)
		if client == "" || d == nil {
			continue
		}
		if denied := v.deniedAt(v.server(r), canonical(r.Host)); denied != nil {
			findings = append(findings, v.libraryFinding(r, denied, canonical(d.Name), client))
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if v.run.Resolver.Caller == callerNodeResolve {
			asks = append(asks, v.askUnsearched(r)...)
			continue
		}
		if v.ownClient() != "" && searched(r) != nil && v.server(r) != "" {
			asks = append(asks, ask(probe.Question{Server: v.server(r)}, canonical(r.Host)))
		}
	}
	return asks
}, page: page{
	needs: "A program or image in the pod that is known to ask for names as they are written (or a run that follows Node's dns.resolve), a host that the search list " +
		"completes, and NXDOMAIN for the bare name.",
	remedies: "The full name in that software's configuration.",
	wrong:    "ndots, search domains, dnsPolicy: software that does not walk the search list does not read them. \"DNS is fine\" without this note.",
}}

// searched returns the attempt by which the search list completed r's host; nil when it did not.
func searched(r *probe.Resolution) *probe.Attempt {
	d := decided(r)
	if r.Outcome != probe.OK || d == nil || d.Origin != probe.OriginSearch || isHost(d, r) {
		return nil
	}
	return d
}

// ownClients are programs with a DNS client of their own that sends names as they are written, by what their images are called.
var ownClients = []struct{ image, name string }{
	{"nginx", "nginx (with `resolver`)"}, {"openresty", "OpenResty"}, {"kong", "Kong"}, {"apisix", "APISIX"},
}

// ownClient names software of the pod that does not walk the search list; empty when none is known.
func (v *view) ownClient() string {
	if v.run.Resolver.Runtime == "nginx" {
		return ownClients[0].name
	}
	images, _ := v.facts.Text(fact.Images)
	for _, word := range strings.Fields(images) {
		_, image, found := strings.Cut(word, "=")
		if !found {
			continue
		}
		for _, c := range ownClients {
			if imageName(image) == c.image {
				return c.name
			}
		}
	}
	return ""
}

// imageName is the last part of an image's path, without tag and digest: "nginx" of "docker.io/library/nginx:1.27@sha256:…".
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	image = image[strings.LastIndexByte(image, '/')+1:]
	image, _, _ = strings.Cut(image, ":")
	return image
}

func (v *view) libraryFinding(r, other *probe.Resolution, full, client string) probe.Finding {
	f := probe.Finding{
		Severity: probe.Warning,
		Title:    fmt.Sprintf("%s does not exist as it is written: only the search list makes %s of it, and %s does not walk that.", clean(r.Host), bare(full), client),
		Explain: fmt.Sprintf("Programs that resolve through libc find %s. Software with a DNS client of its own (nginx and Kong with `resolver`, Node's dns.resolve) asks for the bare name, "+
			"gets NXDOMAIN and says \"host not found\".", clean(r.Host)),
		Evidence: []probe.Evidence{v.see(r, &r.Attempts[len(r.Attempts)-1])},
		Remedies: []probe.Remedy{{Text: fmt.Sprintf("Write the full name in that software's configuration: %s.", bare(full))}},
	}
	f.Evidence = append(f.Evidence, probe.Evidence{Text: fmt.Sprintf("%s, asked for directly: %s", bare(other.Host), replies(&other.Attempts[0])), Resolution: other.ID})
	if images, known := v.facts.Text(fact.Images); known && v.run.Resolver.Runtime != "nginx" && client != "Node's dns.resolve" {
		f.Evidence = append(f.Evidence, probe.Evidence{Text: "images: " + clean(images), Fact: fact.Images})
	}
	return f
}

// unsearched are names that r's host would have had in search domains which r never tried.
func (v *view) unsearched(r *probe.Resolution) []string {
	if !notFound(r) || strings.HasSuffix(r.Host, ".") {
		return nil
	}
	var names []string
	for _, domain := range v.skippedDomains(r) {
		if domainFits(domain) && len(names) < mostBeyond {
			names = append(names, canonical(r.Host)+"."+canonical(domain))
		}
	}
	return names
}

func (v *view) askUnsearched(r *probe.Resolution) []FollowUp {
	var asks []FollowUp
	server := v.server(r)
	for _, name := range v.unsearched(r) {
		if server != "" {
			asks = append(asks, ask(probe.Question{Server: server}, name))
		}
	}
	return asks
}

// foundUnsearched returns the reply that has r's host in a search domain which r never tried, nil when there is none.
func (v *view) foundUnsearched(r *probe.Resolution) *probe.Resolution {
	for _, name := range v.unsearched(r) {
		if known := v.foundAt(v.server(r), name); known != nil {
			return known
		}
	}
	return nil
}

// deniedUnsearched says whether every search domain that was asked beside r's own lookup has no such name either, and at least one was.
func (v *view) deniedUnsearched(r *probe.Resolution) bool {
	names := v.unsearched(r)
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return v.deniedAt(v.server(r), name) == nil })
}

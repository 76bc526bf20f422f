package diagnose

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestClientLibraryVerdicts(t *testing.T) {
	bareName := said("198.19.0.10", "mail-api", probe.NXDomain)
	node := tested(callerNodeResolve, said("198.19.0.10", "ledger.core.svc.cluster.local", probe.OK, "10.96.44.7"))
	all := []trace{said("198.19.0.10", "ledger.core.shop.svc.cluster.local", probe.NXDomain), said("198.19.0.10", "ledger.core.svc.cluster.local", probe.NXDomain), said("198.19.0.10", "ledger.core.cluster.local", probe.NXDomain)}
	checkVerdicts(t, map[string]judged{
		"not asked yet":                     {shortName("nginx", ""), "healthy"},
		"nginx":                             {shortName("nginx", "", bareName), "client-library healthy"},
		"an image with a client of its own": {shortName("", "app=debian:12 proxy=registry.example:5000/library/kong:3.6@sha256:0", bareName), "client-library healthy"},
		"an image that is called alike":     {shortName("", "app=registry.example/nginx-exporter:1", bareName), "healthy"},
		"the bare name exists, too":         {shortName("nginx", "", said("198.19.0.10", "mail-api", probe.OK, "192.0.2.1")), "healthy"},
		"a program that walks the list":     {shortName("jvm", "", bareName), "healthy"},
		"dns.resolve of Node":               {node, "client-library"},
		"dns.resolve, and nobody has it":    {tested(callerNodeResolve, all...), "no-such-name"},
		"dns.resolve, not asked yet":        {tested(callerNodeResolve), ""},
	})
	if f := Diagnose(shortName("nginx", "", bareName))[0]; !strings.Contains(f.Remedies[0].Text, "mail-api.shop.svc.cluster.local") {
		t.Errorf("the full name is missing: %+v", f.Remedies)
	}
	if f := Diagnose(shortName("", ""))[0]; !strings.Contains(f.Explain, "mail-api is short for mail-api.shop.svc.cluster.local") {
		t.Errorf("health without the note: %s", f.Explain)
	}
}

func TestNamesOfImages(t *testing.T) {
	for image, want := range map[string]string{
		"nginx": "nginx", "nginx:1.27": "nginx", "docker.io/library/nginx:1.27@sha256:00": "nginx", "registry:5000/a/b": "b", "registry:5000/a/b@sha256:00": "b", "": "",
	} {
		if got := imageName(image); got != want {
			t.Errorf("%q: %q, want %q", image, got, want)
		}
	}
}

package diagnose

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestAdviceFitsWhatTheContainerRuns(t *testing.T) {
	walk := func(r probe.Resolver, container, images string) string {
		tr := classic()
		tr.libc = r.Libc
		in := input(kubernetes(5), tr)
		in.Run.Resolver, in.Run.Target.Container = r, container
		in = facts(in, fact.Images, images)
		return told(Diagnose(in)[:1])
	}
	const general = "Let the application keep its connections open"
	tests := map[string]struct {
		resolver          probe.Resolver
		container, images string
		want              string
	}{
		"a Go program":                          {probe.Resolver{Libc: probe.Go, Source: probe.SourceDetected}, "", "", "MaxIdleConnsPerHost"},
		"a Go program with cgo":                 {probe.Resolver{Libc: probe.Glibc, Source: probe.SourceDetected, Cgo: &probe.CgoProgram{}}, "", "", "MaxIdleConnsPerHost"},
		"Go's resolver was asked for":           {probe.Resolver{Libc: probe.Go, Source: probe.SourceFlag}, "", "", general},
		"Node":                                  {probe.Resolver{Libc: probe.Glibc, Runtime: "node"}, "", "", "keepAlive"},
		"a JVM":                                 {probe.Resolver{Libc: probe.Glibc, Runtime: "jvm"}, "", "", "30 s"},
		"Python":                                {probe.Resolver{Libc: probe.Musl, Runtime: "python"}, "", "", "Session"},
		"nginx":                                 {probe.Resolver{Libc: probe.Musl, Runtime: "nginx"}, "", "", "once, when it starts"},
		"Envoy":                                 {probe.Resolver{Libc: probe.CAres, Runtime: "envoy"}, "", "", "no_default_search_domain"},
		"nobody knows":                          {probe.Resolver{Libc: probe.Glibc}, "", "", general},
		"the image of the container":            {probe.Resolver{Libc: probe.Glibc}, "app", "app=node:20 log=alpine:3.20", "the container's image is node:20"},
		"the image of another container":        {probe.Resolver{Libc: probe.Glibc}, "app", "app=payments:1 side=node:20", general},
		"which container is meant is not known": {probe.Resolver{Libc: probe.Glibc}, "", "app=payments:1 side=node:20", general},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := walk(tt.resolver, tt.container, tt.images)
			if !strings.Contains(got, tt.want) || (tt.want != general) == strings.Contains(got, general) {
				t.Errorf("want %q in\n%s", tt.want, got)
			}
		})
	}
}

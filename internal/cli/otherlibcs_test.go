package cli

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestLibcsOfOtherContainers(t *testing.T) {
	for images, want := range map[string]bool{
		"app=debian:12 proxy=nginx:1.27-alpine":   true,
		"app=debian:12 proxy=docker.io/alpine:3":  true,
		"app=node:22-alpine proxy=debian:12":      false, // the container that is probed itself
		"app=debian:12 proxy=envoyproxy/envoy:v1": false,
		"": false,
	} {
		got := otherLibcs(fact.Facts{fact.Images: {Value: images}}, "app", probe.Glibc)
		if (len(got) == 1) != want || want && (got[0].Libc != probe.Musl || got[0].Source != probe.SourceAssumed) {
			t.Errorf("%q: %+v", images, got)
		}
	}
	if got := otherLibcs(fact.Facts{fact.Images: {Value: "app=x proxy=alpine"}}, "app", probe.Musl); got != nil {
		t.Errorf("musl beside musl: %+v", got)
	}
	if got := otherLibcs(fact.Facts{fact.Images: {Unknown: "nobody knows"}}, "app", probe.Glibc); got != nil {
		t.Errorf("unknown images: %+v", got)
	}
}

package cluster

import (
	"context"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Subject is what facts are wanted about.
type Subject struct {
	Pod *corev1.Pod
	// Container is the target container, empty for the default one.
	Container string
	// Hosts are the names that the run is about: objects that they could mean are looked up.
	Hosts []string
	// Now is the time of this machine, from which ages are counted.
	Now time.Time
}

// Known is what the API server says about a subject.
type Known struct {
	Facts fact.Facts
	Owner Ownership
	// Services are the names of the Services in the pod's namespace, as far as they may be read.
	Services []string
}

// Look reads everything about a pod that its DNS depends on, all at once. What may not be read is an unknown fact, with the permission
// that would tell: no answer of the API server is an error.
func Look(ctx context.Context, client kubernetes.Interface, s Subject) Known {
	if s.Container == "" {
		s.Container = DefaultContainer(s.Pod)
	}
	list := meanings(s.Hosts, s.Pod.Namespace)
	var seen struct {
		owner     Ownership
		dns       dnsSeen
		cache     cacheSeen
		policies  policiesSeen
		objects   objectsSeen
		kubeProxy answer[*corev1.ConfigMap]
		node      answer[*corev1.Node]
		ofNode    answer[[]corev1.Event]
		events    answer[[]corev1.Event]
	}
	var wg sync.WaitGroup
	wg.Go(func() { seen.owner = OwnerOf(ctx, client, s.Pod) })
	wg.Go(func() { seen.dns = readDNS(ctx, client) })
	wg.Go(func() { seen.cache = readNodeCache(ctx, client, s.Pod.Spec.NodeName) })
	wg.Go(func() { seen.policies = readPolicies(ctx, client, s.Pod) })
	wg.Go(func() { seen.objects = readObjects(ctx, client, s.Pod.Namespace, list) })
	wg.Go(func() { seen.kubeProxy = readKubeProxy(ctx, client) })
	wg.Go(func() { seen.node = readNode(ctx, client, s.Pod.Spec.NodeName) })
	wg.Go(func() { seen.ofNode = readNodeEvents(ctx, client, s.Pod.Spec.NodeName) })
	wg.Go(func() { seen.events = readEvents(ctx, client, s.Pod) })
	wg.Wait()

	facts := PodFacts(s.Pod, s.Now)
	for _, more := range []fact.Facts{seen.dns.facts(s.Now), seen.cache.facts(), nodeFacts(seen.node, s.Pod), seen.objects.facts(list)} {
		maps.Copy(facts, more)
	}
	facts[fact.Owner], facts[fact.ManagedBy] = seen.owner.Fact, seen.owner.Managed
	facts[fact.NetworkPolicies] = seen.policies.fact(s.Pod, seen.dns)
	facts[fact.KubeProxyMode] = kubeProxyFact(seen.kubeProxy)
	facts[fact.Conntrack] = conntrackFact(seen.ofNode, s.Pod.Spec.NodeName, s.Now)
	facts[fact.DNSEvents] = eventsFact(seen.events, s.Pod)
	facts[fact.Environment] = environmentFact(s.Pod, s.Container, seen.objects.own)
	return Known{Facts: facts, Owner: seen.owner, Services: namesOf(seen.objects.own.value)}
}

// WithSearch fills in what the search list of the pod tells and the API server did not: the zone of the cluster.
func WithSearch(facts fact.Facts, search []string) fact.Facts {
	zone := probe.ClusterZone(search)
	if _, known := facts.Text(fact.ClusterDomain); known || zone == "" {
		return facts
	}
	out := maps.Clone(facts)
	out[fact.ClusterDomain] = probe.Fact{Value: fact.NamesText([]string{zone}), Source: "search list of the pod's resolv.conf"}
	return out
}

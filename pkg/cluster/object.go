package cluster

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// meant is a Service that a host could mean, and perhaps a pod behind it.
type meant struct {
	service, namespace string
	// pod is the label before that of the Service, empty when there is none.
	pod string
}

// maxAsked bounds the hosts whose objects are looked up.
const maxAsked = 20

// meanings returns the Services that hosts could mean for a pod in a namespace, in the forms that the search list of the cluster
// completes: SERVICE, SERVICE.NAMESPACE, SERVICE.NAMESPACE.svc and more, each with the name of a pod before it.
func meanings(hosts []string, namespace string) []meant {
	var out []meant
	add := func(pod, service, in string) {
		m := meant{service, in, pod}
		if len(validation.IsDNS1123Label(service)) > 0 || len(validation.IsDNS1123Label(in)) > 0 || pod != "" && len(validation.IsDNS1123Label(pod)) > 0 {
			return
		}
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	for _, host := range hosts[:min(len(hosts), maxAsked)] {
		if _, err := netip.ParseAddr(host); err == nil {
			continue
		}
		l := strings.Split(strings.ToLower(strings.TrimSuffix(host, ".")), ".")
		svc := slices.Index(l, "svc")
		switch {
		case len(l) == 1:
			add("", l[0], namespace)
		case len(l) == 2:
			add("", l[0], l[1])
			add(l[0], l[1], namespace)
		case svc == 2:
			add("", l[0], l[1])
		case len(l) == 3 || svc == 3:
			add(l[0], l[1], l[2])
		}
	}
	return out
}

// objectsSeen is what was read of the objects that hosts could mean.
type objectsSeen struct {
	// own are all Services of the pod's namespace.
	own answer[[]corev1.Service]
	// services and slices are by the Service alone, pods by pod and Service. A Service that is not here is not there.
	services   map[meant]answer[*corev1.Service]
	slices     map[meant]answer[[]discoveryv1.EndpointSlice]
	pods       map[meant]answer[*corev1.Pod]
	namespaces map[string]answer[*corev1.Namespace]
}

// maxServices bounds the Services of the pod's namespace that are read.
const maxServices = 500

// readObjects reads the Services of the pod's namespace, and of other objects only those that a host could mean.
func readObjects(ctx context.Context, client kubernetes.Interface, namespace string, list []meant) objectsSeen {
	var seen objectsSeen
	var wg sync.WaitGroup
	wg.Go(func() { seen.own = readServices(ctx, client, namespace) })
	wg.Go(func() {
		seen.namespaces = allAtOnce(namespacesOf(list, namespace), func(name string) answer[*corev1.Namespace] {
			n, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
			return asked(getNamespace, "", n, err)
		})
	})
	read := func(m meant) answer[*corev1.Service] {
		o, err := client.CoreV1().Services(m.namespace).Get(ctx, m.service, metav1.GetOptions{})
		return asked(getServices, m.namespace, o, err)
	}
	// Those of other namespaces are not asked for only when their namespace is known to be there: that would be a round trip more.
	var ofOthers map[meant]answer[*corev1.Service]
	wg.Go(func() {
		ofOthers = allAtOnce(alone(list, func(m meant) bool { return m.namespace != namespace }), read)
	})
	wg.Wait()
	seen.services = ofOthers
	if seen.own.err == nil {
		maps.Copy(seen.services, byName(seen.own.value, namespace))
	} else {
		maps.Copy(seen.services, allAtOnce(alone(list, func(m meant) bool { return m.namespace == namespace }), read))
	}

	var withSlices, withPod []meant
	for _, m := range list {
		s := seen.services[m.alone()].value
		if s == nil || s.Spec.Type == corev1.ServiceTypeExternalName {
			continue
		}
		withSlices = append(withSlices, m.alone())
		if m.pod != "" && s.Spec.ClusterIP == corev1.ClusterIPNone {
			withPod = append(withPod, m)
		}
	}
	wg.Go(func() {
		seen.slices = allAtOnce(withSlices, func(m meant) answer[[]discoveryv1.EndpointSlice] {
			need := listAllEndpoints
			if m.namespace == namespace {
				need = listEndpoints
			}
			return readSlices(ctx, client, need, m.namespace, m.service)
		})
	})
	wg.Go(func() {
		seen.pods = allAtOnce(withPod, func(m meant) answer[*corev1.Pod] {
			p, err := client.CoreV1().Pods(m.namespace).Get(ctx, m.pod, metav1.GetOptions{})
			return asked(getPods, m.namespace, p, err)
		})
	})
	wg.Wait()
	return seen
}

// allAtOnce reads something for each of several keys, each key once.
func allAtOnce[K comparable, T any](keys []K, read func(K) answer[T]) map[K]answer[T] {
	answers := make([]answer[T], len(keys))
	first := map[K]int{}
	var wg sync.WaitGroup
	for i, key := range keys {
		if _, already := first[key]; already {
			continue
		}
		first[key] = i
		wg.Go(func() { answers[i] = read(key) })
	}
	wg.Wait()
	out := map[K]answer[T]{}
	for key, i := range first {
		out[key] = answers[i]
	}
	return out
}

// alone is the Service without a pod.
func (m meant) alone() meant { return meant{service: m.service, namespace: m.namespace} }

// alone returns the Services of a list that are wanted.
func alone(list []meant, wanted func(meant) bool) []meant {
	var out []meant
	for _, m := range list {
		if wanted(m) {
			out = append(out, m.alone())
		}
	}
	return out
}

// byName are Services that were listed.
func byName(services []corev1.Service, namespace string) map[meant]answer[*corev1.Service] {
	out := map[meant]answer[*corev1.Service]{}
	for i := range services {
		s := &services[i]
		out[meant{service: s.Name, namespace: namespace}] = asked(listServices, namespace, s, nil)
	}
	return out
}

// namespacesOf returns the namespaces of a list but for own, the pod's, which is there.
func namespacesOf(list []meant, own string) []string {
	var out []string
	for _, m := range list {
		if m.namespace != own && !slices.Contains(out, m.namespace) {
			out = append(out, m.namespace)
		}
	}
	return out
}

func readServices(ctx context.Context, client kubernetes.Interface, namespace string) answer[[]corev1.Service] {
	list, err := client.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{Limit: maxServices})
	if err != nil {
		return asked[[]corev1.Service](listServices, namespace, nil, err)
	}
	a := asked(listServices, namespace, list.Items, nil)
	if list.Continue != "" {
		// The others are asked for by their names.
		a.err = fmt.Errorf("there are more than %d", maxServices)
	}
	return a
}

// facts returns what was seen of the objects of a list.
func (s objectsSeen) facts(list []meant) fact.Facts {
	facts := fact.Facts{}
	for name, n := range s.namespaces {
		f := n.fact("namespace " + name)
		switch {
		case n.missing():
			f = probe.Fact{Value: fact.None, Source: f.Source}
		case n.err == nil:
			f = probe.Fact{Value: "exists", Source: f.Source}
		}
		facts[fact.NamespacePrefix+name] = f
	}
	for _, m := range list {
		facts[fact.ServiceName(m.service, m.namespace)] = s.serviceFact(m)
		p, read := s.pods[m]
		if !read {
			continue
		}
		f := p.fact("pod " + m.namespace + "/" + m.pod)
		switch {
		case p.missing() || p.err == nil && !behind(p.value, m):
			f = probe.Fact{Value: fact.None, Source: f.Source}
		case p.err == nil:
			f = probe.Fact{Value: peerFact(p.value).Text(), Source: "status of " + f.Source}
		}
		facts[fact.PodName(m.pod, m.namespace)] = f
	}
	return facts
}

// behind says whether a pod can have a name of its own behind a headless Service: by its subdomain (k8s.io/api core/v1
// PodSpec.Subdomain).
func behind(p *corev1.Pod, m meant) bool { return p.Spec.Subdomain == m.service }

func peerFact(p *corev1.Pod) fact.Peer {
	peer := fact.Peer{Exists: true, Ready: rank(p) > 0, Phase: string(p.Status.Phase), Node: p.Spec.NodeName}
	if addr, err := netip.ParseAddr(p.Status.PodIP); err == nil {
		peer.Address = addr
	}
	return peer
}

func (s objectsSeen) serviceFact(m meant) probe.Fact {
	source := "service " + m.namespace + "/" + m.service
	read := s.services[m.alone()]
	switch {
	case s.namespaces[m.namespace].missing():
		return probe.Fact{Value: fact.None, Source: "namespace " + m.namespace}
	case read.missing() || read.err == nil && read.value == nil:
		return probe.Fact{Value: fact.None, Source: source}
	case read.err != nil:
		return read.fact(source)
	}
	spec := read.value.Spec
	out := fact.Service{Exists: true, PublishNotReady: spec.PublishNotReadyAddresses}
	if spec.Type == corev1.ServiceTypeExternalName {
		out.ExternalName = spec.ExternalName
		return probe.Fact{Value: out.Text(), Source: source}
	}
	if out.Headless = spec.ClusterIP == corev1.ClusterIPNone; !out.Headless {
		addr, err := netip.ParseAddr(spec.ClusterIP)
		if err != nil {
			return probe.Fact{Unknown: "it has no address yet", Source: source}
		}
		out.ClusterIP = addr
	}
	endpoints := s.slices[m.alone()]
	if out.EndpointsUnknown = endpoints.err != nil; out.EndpointsUnknown {
		return probe.Fact{Value: out.Text(), Source: source + "; endpoints are not known: " + endpoints.unknown()}
	}
	ready := map[netip.Addr]bool{}
	for _, slice := range endpoints.value {
		for _, e := range endpointsOf(&slice) {
			ready[e.Address] = ready[e.Address] || e.Ready
		}
	}
	for _, is := range ready {
		if is {
			out.Ready++
		} else {
			out.NotReady++
		}
	}
	return probe.Fact{Value: out.Text(), Source: source + " and its endpointslices"}
}

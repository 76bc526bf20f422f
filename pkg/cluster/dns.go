package cluster

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// place is where a distribution keeps the cluster's DNS.
type place struct {
	namespace, service, config string
	// label is that of the Service and of the pods.
	label string
}

const configCoreDNS = "coredns"

// places are tried in order. The name kube-dns is one that CoreDNS keeps for compatibility (github.com/coredns/deployment,
// kubernetes/coredns.yaml.sed); OpenShift has an operator of its own (github.com/openshift/cluster-dns-operator, manifests).
var places = []place{
	{metav1.NamespaceSystem, "kube-dns", configCoreDNS, "k8s-app=kube-dns"},
	{"openshift-dns", "dns-default", "dns-default", "dns.operator.openshift.io/daemonset-dns=default"},
}

// dnsSeen is what was read of the cluster's DNS.
type dnsSeen struct {
	place   place
	service answer[*corev1.Service]
	slices  answer[[]discoveryv1.EndpointSlice]
	pods    answer[[]corev1.Pod]
	config  answer[*corev1.ConfigMap]
}

// few bounds lists of which there are few in any cluster.
const few = 100

// readDNS reads the cluster's DNS where it is.
func readDNS(ctx context.Context, client kubernetes.Interface) dnsSeen {
	first := readDNSAt(ctx, client, places[0])
	if !first.service.missing() {
		return first
	}
	for _, p := range places[1:] {
		if other := readDNSAt(ctx, client, p); other.service.err == nil {
			return other
		}
	}
	return first
}

func readDNSAt(ctx context.Context, client kubernetes.Interface, p place) dnsSeen {
	seen := dnsSeen{place: p}
	var wg sync.WaitGroup
	wg.Go(func() { seen.service = readDNSService(ctx, client, p) })
	wg.Go(func() { seen.slices = readSlices(ctx, client, listDNSEndpoints, p.namespace, p.service) })
	wg.Go(func() {
		list, err := client.CoreV1().Pods(p.namespace).List(ctx, metav1.ListOptions{LabelSelector: p.label, Limit: few})
		seen.pods = asked(listDNSPods, p.namespace, itemsOf(list), err)
	})
	wg.Go(func() { seen.config = readConfig(ctx, client, p.namespace, p.config) })
	wg.Wait()
	if s := seen.service.value; s != nil && s.Name != p.service {
		seen.slices = readSlices(ctx, client, listDNSEndpoints, p.namespace, s.Name)
	}
	if name := configOf(seen.pods.value); seen.config.missing() && name != "" {
		seen.config = readConfig(ctx, client, p.namespace, name)
	}
	return seen
}

func itemsOf(list *corev1.PodList) []corev1.Pod {
	if list == nil {
		return nil
	}
	return list.Items
}

// readDNSService reads the Service by its name, else the one with the label that add-ons give it.
func readDNSService(ctx context.Context, client kubernetes.Interface, p place) answer[*corev1.Service] {
	services := client.CoreV1().Services(p.namespace)
	s, err := services.Get(ctx, p.service, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return asked(getDNSService, p.namespace, s, err)
	}
	list, listErr := services.List(ctx, metav1.ListOptions{LabelSelector: p.label, Limit: few})
	if listErr != nil {
		return asked[*corev1.Service](listDNSServices, p.namespace, nil, listErr)
	}
	for i := range list.Items {
		// The Service in front of CoreDNS for NodeLocal DNSCache has the same label.
		if list.Items[i].Name != upstreamService {
			return asked(getDNSService, p.namespace, &list.Items[i], nil)
		}
	}
	return asked[*corev1.Service](getDNSService, p.namespace, nil, err)
}

func readSlices(ctx context.Context, client kubernetes.Interface, need Permission, namespace, service string) answer[[]discoveryv1.EndpointSlice] {
	list, err := client.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{
		LabelSelector: discoveryv1.LabelServiceName + "=" + service, Limit: few,
	})
	if err != nil {
		return asked[[]discoveryv1.EndpointSlice](need, namespace, nil, err)
	}
	return asked(need, namespace, list.Items, nil)
}

func readConfig(ctx context.Context, client kubernetes.Interface, namespace, name string) answer[*corev1.ConfigMap] {
	m, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	return asked(getDNSConfigs, namespace, m, err)
}

// configOf returns the ConfigMap that pods of a DNS server have their Corefile from, empty when that cannot be seen: those of Helm
// charts are named after the release.
func configOf(pods []corev1.Pod) string {
	for _, p := range pods {
		for _, v := range p.Spec.Volumes {
			if v.ConfigMap == nil {
				continue
			}
			for _, item := range v.ConfigMap.Items {
				if item.Key == "Corefile" {
					return v.ConfigMap.Name
				}
			}
		}
	}
	return ""
}

// facts returns what was seen as facts. now is the time of this machine.
func (d dnsSeen) facts(now time.Time) fact.Facts {
	facts := fact.Facts{fact.DNSService: d.serviceFact()}
	d.endpointFacts(now, facts)
	facts[fact.Corefile] = corefileFact(d.config, d.place.namespace, d.place.config)
	facts[fact.ClusterDomain] = zoneFact(facts)
	return facts
}

func (d dnsSeen) serviceFact() probe.Fact {
	source := "services of " + d.place.namespace
	if d.service.missing() {
		return probe.Fact{
			Unknown: fmt.Sprintf("namespace %s has no Service %s, and none with the label %s", d.place.namespace, d.place.service, d.place.label),
			Source:  source,
		}
	}
	if d.service.err != nil {
		return d.service.fact(source)
	}
	return serviceFact(d.service.value)
}

func serviceFact(s *corev1.Service) probe.Fact {
	source := fmt.Sprintf("spec.clusterIPs of service %s/%s", s.Namespace, s.Name)
	var ips []string
	for _, text := range append([]string{s.Spec.ClusterIP}, s.Spec.ClusterIPs...) {
		if addr, err := netip.ParseAddr(text); err == nil && !slices.Contains(ips, addr.String()) {
			ips = append(ips, addr.String())
		}
	}
	if len(ips) == 0 {
		return probe.Fact{Unknown: "it has no address of its own", Source: source}
	}
	return probe.Fact{Value: strings.Join(ips, " "), Source: source}
}

// endpointFacts adds which servers are behind the Service, and since when.
func (d dnsSeen) endpointFacts(now time.Time, facts fact.Facts) {
	source := "endpointslices of " + d.place.namespace
	unknown := d.slices.fact(source)
	if d.slices.err == nil && len(d.slices.value) == 0 && d.service.value == nil {
		// No slices of a Service that is not known to be there mean nothing.
		unknown = probe.Fact{Unknown: "there is no Service to have endpoints", Source: source}
	}
	if unknown.Unknown != "" {
		facts[fact.DNSEndpoints], facts[fact.DNSEndpointsChanged] = unknown, unknown
		return
	}
	restarts := map[string]int{}
	for _, p := range d.pods.value {
		restarts[p.Name] = restartsOf(&p)
	}
	var list []fact.Endpoint
	var changed time.Time
	changedSource := ""
	for _, s := range d.slices.value {
		if at, from := sliceChanged(&s); at.After(changed) {
			changed, changedSource = at, from
		}
		for _, e := range endpointsOf(&s) {
			e.Restarts = restarts[e.Pod]
			if len(list) < maxListed && !slices.ContainsFunc(list, func(other fact.Endpoint) bool { return other.Address == e.Address }) {
				list = append(list, e)
			}
		}
	}
	slices.SortFunc(list, func(a, b fact.Endpoint) int { return a.Address.Compare(b.Address) })
	told := probe.Fact{Value: fact.EndpointsText(list), Source: source}
	if d.pods.err != nil {
		told.Source += "; restarts are not known: " + d.pods.unknown()
	}
	facts[fact.DNSEndpoints] = told
	if changed.IsZero() {
		facts[fact.DNSEndpointsChanged] = probe.Fact{Unknown: "the endpointslices do not say when they changed", Source: source}
		return
	}
	facts[fact.DNSEndpointsChanged] = probe.Fact{Value: ago(changed, now), Source: changedSource + " of " + source}
}

// ago says how long ago something was. Clocks differ: what seems to lie ahead was just now.
func ago(then, now time.Time) string { return max(0, now.Sub(then)).Round(time.Second).String() }

func restartsOf(p *corev1.Pod) int {
	n := 0
	for _, c := range p.Status.ContainerStatuses {
		n += int(c.RestartCount)
	}
	return n
}

// endpointsOf returns the endpoints of a slice. One that does not say whether it is ready is (k8s.io/api discovery/v1
// EndpointConditions.Ready).
func endpointsOf(s *discoveryv1.EndpointSlice) []fact.Endpoint {
	port := 0
	for _, p := range s.Ports {
		if p.Port != nil && p.Protocol != nil && *p.Protocol == corev1.ProtocolUDP {
			port = int(*p.Port)
		}
	}
	if port == 53 {
		port = 0
	}
	var out []fact.Endpoint
	for _, e := range s.Endpoints {
		to := fact.Endpoint{Ready: e.Conditions.Ready == nil || *e.Conditions.Ready, Port: port}
		if e.TargetRef != nil && e.TargetRef.Kind == "Pod" {
			to.Pod = e.TargetRef.Name
		}
		if e.NodeName != nil {
			to.Node = *e.NodeName
		}
		for _, text := range e.Addresses {
			if addr, err := netip.ParseAddr(text); err == nil {
				to.Address = addr
				out = append(out, to)
			}
		}
	}
	return out
}

// sliceChanged says when the endpoints of a slice last changed: by the annotation of its controller, which has the time of what
// made it change, else by the time of its last change at all. The zero time means that it does not say.
func sliceChanged(s *discoveryv1.EndpointSlice) (at time.Time, from string) {
	const annotation = corev1.EndpointsLastChangeTriggerTime
	if at, err := time.Parse(time.RFC3339Nano, s.Annotations[annotation]); err == nil {
		return at, "annotation " + annotation
	}
	for _, m := range s.ManagedFields {
		if m.Time != nil && m.Time.After(at) {
			at = m.Time.Time
		}
	}
	return at, "metadata.managedFields"
}

// corefileFact is the Corefile in a ConfigMap of that name, or of another one that was found.
func corefileFact(config answer[*corev1.ConfigMap], namespace, name string) probe.Fact {
	source := fmt.Sprintf("configmap %s/%s", namespace, name)
	switch {
	case config.missing():
		return probe.Fact{Unknown: fmt.Sprintf("namespace %s has no ConfigMap %s", namespace, name), Source: source}
	case config.err != nil:
		return config.fact(source)
	}
	source = fmt.Sprintf("configmap %s/%s", namespace, config.value.Name)
	text := config.value.Data["Corefile"]
	if text == "" {
		return probe.Fact{Unknown: "it has no Corefile", Source: source}
	}
	return bounded(text, "Corefile of "+source, maxConfig)
}

// zoneFact is the zone that the Corefile among the facts serves for the cluster.
func zoneFact(facts fact.Facts) probe.Fact {
	from := facts[fact.Corefile]
	blocks, known := facts.Corefile(fact.Corefile)
	if !known {
		return probe.Fact{Unknown: from.Unknown, Source: from.Source}
	}
	zone := fact.ZoneOfCluster(blocks)
	if zone == "" {
		return probe.Fact{Unknown: "the Corefile has no plugin kubernetes with a zone", Source: from.Source}
	}
	return probe.Fact{Value: fact.NamesText([]string{zone}), Source: "plugin kubernetes in the " + from.Source}
}

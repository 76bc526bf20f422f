package cluster

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// The names that NodeLocal DNSCache has (github.com/kubernetes/kubernetes, cluster/addons/dns/nodelocaldns).
const (
	configNodeLocal  = "node-local-dns"
	labelOfNodeLocal = "k8s-app=node-local-dns"
	upstreamService  = "kube-dns-upstream"
)

// cacheSeen is what was read of the NodeLocal DNSCache on a node.
type cacheSeen struct {
	node string
	// pods are those of the cache on the node.
	pods answer[[]corev1.Pod]
	// config and upstream are only read where there could be a cache.
	config   answer[*corev1.ConfigMap]
	upstream answer[*corev1.Service]
}

// readNodeCache reads the NodeLocal DNSCache on a node. The API server picks the pods of one node by itself, so that the thousand
// others are not sent.
func readNodeCache(ctx context.Context, client kubernetes.Interface, node string) cacheSeen {
	const namespace = metav1.NamespaceSystem
	list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labelOfNodeLocal, FieldSelector: "spec.nodeName=" + node, Limit: few,
	})
	pods := slices.DeleteFunc(itemsOf(list), func(p corev1.Pod) bool { return p.Spec.NodeName != node })
	seen := cacheSeen{node: node, pods: asked(listDNSPods, namespace, pods, err)}
	if err == nil && len(pods) == 0 {
		return seen
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		name := configOf(pods)
		if name == "" {
			name = configNodeLocal
		}
		seen.config = readConfig(ctx, client, namespace, name)
	})
	wg.Go(func() {
		s, err := client.CoreV1().Services(namespace).Get(ctx, upstreamService, metav1.GetOptions{})
		seen.upstream = asked(getDNSService, namespace, s, err)
	})
	wg.Wait()
	return seen
}

func (c cacheSeen) facts() fact.Facts {
	source := fmt.Sprintf("pods of %s with the label %s on node %s", metav1.NamespaceSystem, labelOfNodeLocal, c.node)
	if c.pods.err == nil && len(c.pods.value) == 0 {
		none := probe.Fact{Value: fact.None, Source: source}
		return fact.Facts{fact.NodeLocal: none, fact.NodeLocalCorefile: none, fact.DNSUpstreamService: none}
	}
	facts := fact.Facts{
		fact.NodeLocal:         c.pods.fact(source),
		fact.NodeLocalCorefile: corefileFact(c.config, metav1.NamespaceSystem, configNodeLocal),
	}
	if c.pods.err == nil {
		facts[fact.NodeLocal] = probe.Fact{Value: nodeCache(c.pods.value).Text(), Source: source}
	}
	upstreamSource := "service " + metav1.NamespaceSystem + "/" + upstreamService
	switch {
	case c.upstream.missing():
		facts[fact.DNSUpstreamService] = probe.Fact{Value: fact.None, Source: upstreamSource}
	case c.upstream.err != nil:
		facts[fact.DNSUpstreamService] = c.upstream.fact(upstreamSource)
	default:
		facts[fact.DNSUpstreamService] = serviceFact(c.upstream.value)
	}
	return facts
}

// nodeCache is the cache that pods on one node are, a ready one before others: while one is replaced there are two.
func nodeCache(pods []corev1.Pod) fact.NodeCache {
	best := &pods[0]
	for i := range pods {
		if rank(&pods[i]) > rank(best) {
			best = &pods[i]
		}
	}
	return fact.NodeCache{Exists: true, Addresses: localIPs(best), Ready: rank(best) > 0, Pod: best.Name}
}

// localIPs returns the addresses that a cache listens on, from its flag -localip.
func localIPs(p *corev1.Pod) []netip.Addr {
	for _, c := range p.Spec.Containers {
		args := slices.Concat(c.Command, c.Args)
		for i, arg := range args {
			name, value, joined := strings.Cut(arg, "=")
			if strings.TrimLeft(name, "-") != "localip" || !strings.HasPrefix(arg, "-") {
				continue
			}
			if !joined && i+1 < len(args) {
				value = args[i+1]
			}
			return fact.Addresses(value)
		}
	}
	return nil
}

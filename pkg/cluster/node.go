package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func readNode(ctx context.Context, client kubernetes.Interface, name string) answer[*corev1.Node] {
	n, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	return asked(getNode, "", n, err)
}

// nodeFacts are those of the pod's node.
func nodeFacts(node answer[*corev1.Node], pod *corev1.Pod) fact.Facts {
	source := "status.nodeInfo of node " + pod.Spec.NodeName
	facts := fact.Facts{fact.NodeResolvConf: {
		Unknown: "no object of the API has it; on the node, the field resolvConf of the kubelet's configuration names the file",
		Source:  "node " + pod.Spec.NodeName,
	}}
	if node.err != nil {
		facts[fact.Kernel], facts[fact.OSImage] = node.fact(source), node.fact(source)
		return facts
	}
	info := node.value.Status.NodeInfo
	told := func(value string) probe.Fact {
		if value == "" {
			return probe.Fact{Unknown: "the kubelet does not say", Source: source}
		}
		return probe.Fact{Value: printable.Text(value, maxReason), Source: source}
	}
	facts[fact.Kernel], facts[fact.OSImage] = told(info.KernelVersion), told(info.OSImage)
	if class := pod.Spec.RuntimeClassName; class != nil && *class != "" {
		kernel := facts[fact.Kernel]
		kernel.Source += fmt.Sprintf("; the pod has the runtime class %s, which may bring a kernel of its own", *class)
		facts[fact.Kernel] = kernel
	}
	return facts
}

// The names of kube-proxy's ConfigMap: that of kubeadm, and that of EKS, which keeps a kubeconfig under the first one.
const (
	configKubeProxy    = "kube-proxy"
	configKubeProxyEKS = "kube-proxy-config"
)

// readKubeProxy reads the configuration of kube-proxy where most clusters have it.
func readKubeProxy(ctx context.Context, client kubernetes.Interface) answer[*corev1.ConfigMap] {
	config := readConfig(ctx, client, metav1.NamespaceSystem, configKubeProxy)
	if config.missing() || config.err == nil && kubeProxyConfig(config.value) == "" {
		if other := readConfig(ctx, client, metav1.NamespaceSystem, configKubeProxyEKS); other.err == nil {
			return other
		}
	}
	return config
}

// kubeProxyConfig returns the text of a KubeProxyConfiguration, empty when there is none.
func kubeProxyConfig(m *corev1.ConfigMap) string {
	for _, key := range []string{"config.conf", "config"} {
		if text := m.Data[key]; strings.Contains(text, "KubeProxyConfiguration") {
			return text
		}
	}
	return ""
}

// kubeProxyFact is the mode of kube-proxy. An empty one means iptables on Linux (k8s.io/kube-proxy config/v1alpha1
// KubeProxyConfiguration.Mode).
func kubeProxyFact(config answer[*corev1.ConfigMap]) probe.Fact {
	source := fmt.Sprintf("configmap %s/%s", metav1.NamespaceSystem, configKubeProxy)
	switch {
	case config.missing():
		return probe.Fact{
			Unknown: fmt.Sprintf("namespace %s has no ConfigMap %s: something else may stand for it, such as the network plugin", metav1.NamespaceSystem, configKubeProxy),
			Source:  source,
		}
	case config.err != nil:
		return config.fact(source)
	}
	source = fmt.Sprintf("configmap %s/%s", metav1.NamespaceSystem, config.value.Name)
	text := kubeProxyConfig(config.value)
	if text == "" || len(text) > maxConfig {
		return probe.Fact{Unknown: "it has no KubeProxyConfiguration", Source: source}
	}
	var parsed struct {
		Mode string `json:"mode"`
	}
	if err := yaml.Unmarshal([]byte(text), &parsed); err != nil {
		return probe.Fact{Unknown: "its KubeProxyConfiguration cannot be read: " + printable.Text(err.Error(), maxReason), Source: source}
	}
	if parsed.Mode == "" {
		return probe.Fact{Value: "iptables", Source: source + " (its mode is empty, which means iptables)"}
	}
	return probe.Fact{Value: fact.NamesText([]string{parsed.Mode}), Source: source}
}

func readEvents(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) answer[[]corev1.Event] {
	list, err := client.CoreV1().Events(pod.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: "involvedObject.kind=Pod,involvedObject.name=" + pod.Name + ",reason=" + dnsConfigForming, Limit: few,
	})
	if err != nil {
		return asked[[]corev1.Event](listEvents, pod.Namespace, nil, err)
	}
	return asked(listEvents, pod.Namespace, list.Items, nil)
}

// dnsConfigForming is the reason of the events by which the kubelet says what it left out of a resolv.conf
// (k8s.io/kubernetes pkg/kubelet/network/dns).
const dnsConfigForming = "DNSConfigForming"

// eventsFact has the messages of the events of the pod, each once.
func eventsFact(events answer[[]corev1.Event], pod *corev1.Pod) probe.Fact {
	source := fmt.Sprintf("events %s of pod %s/%s", dnsConfigForming, pod.Namespace, pod.Name)
	if events.err != nil {
		return events.fact(source)
	}
	var lines []string
	seen := map[string]bool{}
	for _, e := range events.value {
		of := e.InvolvedObject
		if e.Reason != dnsConfigForming || of.Kind != "Pod" || of.Name != pod.Name || pod.UID != "" && of.UID != "" && of.UID != pod.UID {
			continue
		}
		line := printable.Text(e.Message, maxReason*4)
		if line != "" && !seen[line] && len(lines) < maxListed {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return probe.Fact{Value: fact.None, Source: source + "; the API server forgets events after an hour or so"}
	}
	return bounded(strings.Join(lines, "\n"), source, maxValue)
}

// conntrackFull is the reason of the events by which the node problem detector says that the node's conntrack table is full
// (github.com/kubernetes/node-problem-detector, config/network-problem-monitor.json).
const conntrackFull = "ConntrackFull"

// recent is how old such an event may be: the detector looks every half minute.
const recent = 5 * time.Minute

func readNodeEvents(ctx context.Context, client kubernetes.Interface, node string) answer[[]corev1.Event] {
	list, err := client.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{
		FieldSelector: "involvedObject.kind=Node,involvedObject.name=" + node + ",reason=" + conntrackFull, Limit: few,
	})
	if err != nil {
		return asked[[]corev1.Event](listNodeEvents, metav1.NamespaceDefault, nil, err)
	}
	return asked(listNodeEvents, metav1.NamespaceDefault, list.Items, nil)
}

// conntrackFact says that the table is full where an event has just said so. No event proves nothing: not every cluster has somebody
// who looks.
func conntrackFact(events answer[[]corev1.Event], node string, now time.Time) probe.Fact {
	source := "events " + conntrackFull + " of node " + node
	if events.err != nil {
		return events.fact(source)
	}
	var last time.Time
	for _, e := range events.value {
		if e.Reason != conntrackFull || e.InvolvedObject.Kind != "Node" || e.InvolvedObject.Name != node {
			continue
		}
		for _, at := range []time.Time{e.LastTimestamp.Time, e.EventTime.Time} {
			if at.After(last) {
				last = at
			}
		}
	}
	if last.IsZero() || now.Sub(last) > recent {
		return probe.Fact{Unknown: "no event says that it is full; on the node, /proc/sys/net/netfilter/nf_conntrack_count and nf_conntrack_max have the numbers", Source: source}
	}
	return probe.Fact{Value: fact.Table{Said: true}.String(), Source: source + ", " + ago(last, now) + " ago"}
}

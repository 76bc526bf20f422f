package fact

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"

// The names of facts. Those that end in a blank are followed by what they are about.
const (
	// Of the pod's spec, as text.
	DNSPolicy   = "dnsPolicy"
	DNSConfig   = "dnsConfig"
	HostNetwork = "hostNetwork"
	HostAliases = "hostAliases"
	Owner       = "owner"
	// PodIPs are the addresses of the pod, of each family that it has; not there before it has any.
	PodIPs = "podIPs"
	// Mesh is a Sidecar that can capture DNS: "none", or "istio-proxy capture=true".
	Mesh = "mesh"
	// Environment are names of hosts in the environment and arguments of the container, separated by blanks.
	Environment = "environment"
	// NamesInUse are the names that a change was checked on beside those that were given, separated by blanks.
	NamesInUse = "namesInUse"
	// Images are the containers of the pod with their images: "app=debian:12 proxy=alpine:3.20".
	Images = "images"
	// ManagedBy says who would revert a change of the owner: "none", "Helm release payments", "Argo CD application shop".
	ManagedBy = "managedBy"

	// DNSService are the addresses of the cluster's DNS Service; DNSEndpoints is a list of Endpoint behind it;
	// DNSEndpointsChanged is how long ago that list changed ("1m30s").
	DNSService          = "dnsService"
	DNSEndpoints        = "dnsEndpoints"
	DNSEndpointsChanged = "dnsEndpointsChanged"
	// DNSUpstreamService are the addresses of the Service kube-dns-upstream, through which NodeLocal DNSCache asks.
	DNSUpstreamService = "dnsUpstreamService"
	// Corefile and NodeLocalCorefile are configurations of CoreDNS, whole.
	Corefile          = "corefile"
	NodeLocalCorefile = "nodeLocalCorefile"
	// NodeLocal is the NodeLocal DNSCache on the pod's node, as a NodeCache, or "none".
	NodeLocal = "nodeLocal"
	// ClusterDomain is the zone of the cluster ("cluster.local").
	ClusterDomain = "clusterDomain"
	// NetworkPolicies is a list of Policy: those that select the pod for egress; "none".
	NetworkPolicies = "networkPolicies"

	// Of the pod's node.
	KubeProxyMode = "kubeProxyMode"
	// Kernel is its release, a Release: "5.15.0-91-generic".
	Kernel = "kernel"
	// Conntrack is the node's table of connections, a Table: "1200 of 262144".
	Conntrack = "conntrack"
	OSImage   = "osImage"
	// NodeResolvConf is the file that the kubelet starts from, whole.
	NodeResolvConf = "nodeResolvConf"
	// DNSEvents are the events DNSConfigForming of the pod, one a line.
	DNSEvents = "dnsEvents"
	// PodStarted is how long ago the pod's sandbox was made ("52h0m0s").
	PodStarted = "podStarted"

	// Service, Pod and Namespace are objects that a host could mean: "service ledger.billing" is a Service, "pod node-1.store" a
	// Peer, "namespace example" is "exists" or "none".
	ServicePrefix   = "service "
	PodPrefix       = "pod "
	NamespacePrefix = "namespace "
)

// None is the value of a fact about something that is known not to be there.
const None = "none"

// Facts are those of a run, by name.
type Facts map[string]probe.Fact

// Text returns the value of a fact, and whether it is known.
func (f Facts) Text(name string) (string, bool) {
	fact, ok := f[name]
	return fact.Value, ok && fact.Unknown == "" && fact.Value != ""
}

// IsNone says whether it is known that there is no such thing.
func (f Facts) IsNone(name string) bool {
	value, known := f.Text(name)
	return known && value == None
}

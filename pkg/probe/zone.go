package probe

import "strings"

// ClusterZone returns the cluster's own zone ("cluster.local") as a search list tells it, or "" when no element does.
//
// The kubelet writes NAMESPACE.svc.ZONE, svc.ZONE, ZONE for dnsPolicy ClusterFirst (k8s.io/kubernetes
// pkg/kubelet/network/dns, generateSearchesForDNSClusterFirst); an element svc.ZONE is the clear sign.
func ClusterZone(search []string) string {
	for _, s := range search {
		s = strings.TrimSuffix(s, ".")
		if len(s) > len("svc.") && strings.EqualFold(s[:len("svc.")], "svc.") {
			return s[len("svc."):]
		}
	}
	return ""
}

// InZone reports whether name is zone or below it. Case and final dots do not matter. Nothing is in the zone "".
func InZone(name, zone string) bool {
	name, zone = strings.TrimSuffix(name, "."), strings.TrimSuffix(zone, ".")
	if zone == "" || len(name) < len(zone) {
		return false
	}
	cut := len(name) - len(zone)
	return strings.EqualFold(name[cut:], zone) && (cut == 0 || name[cut-1] == '.')
}

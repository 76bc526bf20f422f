package diagnose

import (
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// LeavesCluster says whether the cluster's DNS has to ask somebody else about name, because name is not in zone (probe.ClusterZone).
// It is false when zone is empty, that is unknown.
func LeavesCluster(name, zone string) bool {
	return zone != "" && !probe.InZone(name, zone)
}

// Service takes a name of the form SERVICE.NAMESPACE.svc.ZONE apart. What stands before SERVICE (a pod of a headless Service)
// is left away.
func Service(name, zone string) (service, namespace string, ok bool) {
	if zone == "" {
		return "", "", false
	}
	rest, ok := strings.CutSuffix(canonical(name), ".svc."+canonical(zone))
	if !ok {
		return "", "", false
	}
	labels := strings.Split(rest, ".")
	if len(labels) < 2 {
		return "", "", false
	}
	service, namespace = labels[len(labels)-2], labels[len(labels)-1]
	return service, namespace, service != "" && namespace != ""
}

func canonical(name string) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "."), "."))
}

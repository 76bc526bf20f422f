package cluster

import (
	"fmt"
	"strings"
)

// Ref is a target as it was typed: a kind and a name.
type Ref struct {
	// Kind is one of the Kinds below in its canonical form, or whatever else was typed.
	Kind string
	Name string
}

func (r Ref) String() string { return r.Kind + "/" + r.Name }

// kinds are the words for the kinds that a target can have, as kubectl knows them.
var kinds = map[string]string{
	"pod": "pod", "pods": "pod", "po": "pod",
	"deployment": "deployment", "deployments": "deployment", "deploy": "deployment",
	"replicaset": "replicaset", "replicasets": "replicaset", "rs": "replicaset",
	"statefulset": "statefulset", "statefulsets": "statefulset", "sts": "statefulset",
	"daemonset": "daemonset", "daemonsets": "daemonset", "ds": "daemonset",
	"job": "job", "jobs": "job",
	"cronjob": "cronjob", "cronjobs": "cronjob", "cj": "cronjob",
	"service": "service", "services": "service", "svc": "service",
	"replicationcontroller": "replicationcontroller", "replicationcontrollers": "replicationcontroller", "rc": "replicationcontroller",
}

// ParseTarget reads "KIND/NAME" or the name of a pod.
func ParseTarget(s string) (Ref, error) {
	kind, name, found := strings.Cut(s, "/")
	if !found {
		kind, name = "pod", s
	}
	switch {
	case kind == "" || name == "":
		return Ref{}, fmt.Errorf("%q is not a target: give KIND/NAME or the name of a pod", s)
	case strings.Contains(name, "/"):
		return Ref{}, fmt.Errorf("%q is not a target: it has more than one slash (the namespace is given with -n)", s)
	}
	if known, ok := kinds[strings.ToLower(kind)]; ok {
		kind = known
	}
	return Ref{Kind: kind, Name: name}, nil
}

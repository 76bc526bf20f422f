package ephemeral

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// podSecurity returns the level that a namespace enforces, from its labels. Without labels the cluster's own default holds,
// which the API does not tell and which is "privileged" unless an administrator changed it.
func podSecurity(ns *corev1.Namespace) psa.LevelVersion {
	lv := psa.LevelVersion{Level: psa.LevelPrivileged, Version: psa.LatestVersion()}
	if ns == nil {
		return lv
	}
	if level, err := psa.ParseLevel(ns.Labels[psa.EnforceLevelLabel]); err == nil {
		lv.Level = level
	} else if ns.Labels[psa.EnforceLevelLabel] != "" {
		// An unreadable label means restricted to the admission plugin too.
		lv.Level = psa.LevelRestricted
	}
	if v, ok := ns.Labels[psa.EnforceVersionLabel]; ok {
		if version, err := psa.ParseVersion(v); err == nil {
			lv.Version = version
		}
	}
	return lv
}

// violations returns why a pod would not pass a level, empty when it does. It is the admission plugin's own code, so it says
// what the API server would say.
func violations(lv psa.LevelVersion, meta *metav1.ObjectMeta, spec *corev1.PodSpec) (string, error) {
	if lv.Level == psa.LevelPrivileged {
		return "", nil
	}
	e, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return "", fmt.Errorf("set up the Pod Security checks: %w", err)
	}
	r := policy.AggregateCheckResults(e.EvaluatePod(lv, meta, spec))
	if r.Allowed {
		return "", nil
	}
	return r.ForbiddenDetail(), nil
}

// offenders returns the names of the containers of a pod that alone keep it from passing a level, and whether the pod itself
// does (host namespaces, volumes).
func offenders(lv psa.LevelVersion, pod *corev1.Pod) (names []string, itself bool, err error) {
	bare := pod.Spec.DeepCopy()
	bare.Containers, bare.InitContainers, bare.EphemeralContainers = nil, nil, nil
	try := func(change func(*corev1.PodSpec)) (bool, error) {
		spec := bare.DeepCopy()
		// The user checks of "restricted" look at the pod and each of its containers together.
		change(spec)
		text, err := violations(lv, &pod.ObjectMeta, spec)
		return text != "", err
	}
	if itself, err = try(func(*corev1.PodSpec) {}); err != nil || itself {
		return nil, itself, err
	}
	for i := range pod.Spec.InitContainers {
		bad, err := try(func(s *corev1.PodSpec) { s.InitContainers = pod.Spec.InitContainers[i : i+1] })
		if err != nil {
			return nil, false, err
		}
		if bad {
			names = append(names, pod.Spec.InitContainers[i].Name)
		}
	}
	for i := range pod.Spec.Containers {
		bad, err := try(func(s *corev1.PodSpec) { s.Containers = pod.Spec.Containers[i : i+1] })
		if err != nil {
			return nil, false, err
		}
		if bad {
			names = append(names, pod.Spec.Containers[i].Name)
		}
	}
	for i := range pod.Spec.EphemeralContainers {
		bad, err := try(func(s *corev1.PodSpec) { s.EphemeralContainers = pod.Spec.EphemeralContainers[i : i+1] })
		if err != nil {
			return nil, false, err
		}
		if bad {
			names = append(names, pod.Spec.EphemeralContainers[i].Name)
		}
	}
	return names, false, nil
}

// levelText is a level for people.
func levelText(lv psa.LevelVersion) string {
	return strings.TrimSuffix(fmt.Sprintf("%s:%s", lv.Level, lv.Version.String()), ":latest")
}

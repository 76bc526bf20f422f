package patch

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Document is a patch as a file that can be kept: a comment that says what it is and how to apply it, then the strategic merge patch.
func Document(p probe.Patch) string {
	var b strings.Builder
	comment := func(format string, args ...any) {
		b.WriteString("# " + printable.Text(fmt.Sprintf(format, args...), printable.MaxText) + "\n")
	}
	comment("Strategic merge patch of %s %s: %s", p.Kind, qualified(p), p.Variant)
	if p.Command != "" {
		comment("Apply it: kubectl%s patch %s %s --type strategic --patch-file FILE", flagNamespace(p.Namespace), strings.ToLower(p.Kind), p.Name)
	}
	if p.Undo != "" {
		comment("Take it back: %s", p.Undo)
	}
	return b.String() + p.YAML
}

func qualified(p probe.Patch) string {
	if p.Namespace == "" {
		return p.Name
	}
	return p.Namespace + "/" + p.Name
}

// Kustomization is a patch as a kustomization.yaml, or as the part of one below "patches:". For kinds that kustomize does not know it
// merges maps and replaces lists (RFC 7386), which comes to the same here: the lists are complete.
func Kustomization(p probe.Patch) (string, error) {
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(p.YAML), &doc); err != nil {
		return "", fmt.Errorf("write the patch for kustomize: %w", err)
	}
	doc["apiVersion"], doc["kind"] = p.APIVersion, p.Kind
	doc["metadata"] = map[string]any{"name": p.Name}
	body, err := yaml.Marshal(doc)
	if err != nil {
		return "", fmt.Errorf("write the patch for kustomize: %w", err)
	}
	group, version, found := strings.Cut(p.APIVersion, "/")
	if !found {
		group, version = "", p.APIVersion
	}
	target := map[string]any{"version": version, "kind": p.Kind, "name": p.Name}
	if group != "" {
		target["group"] = group
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
		"patches": []any{map[string]any{"target": target, "patch": string(body)}},
	})
	if err != nil {
		return "", fmt.Errorf("write the patch for kustomize: %w", err)
	}
	return string(text), nil
}

// Compare shows the difference between the DNS settings of two states of a workload, as Diff of a patch does. It is empty when there
// is none.
func Compare(before, after Workload) (string, error) {
	if text := whole(before); fmt.Sprint(text) == fmt.Sprint(whole(after)) {
		return "", nil
	}
	return diff(workloadOf(after.Owner).path, whole(before), whole(after))
}

// whole is all that a pod spec says about DNS.
func whole(w Workload) map[string]any {
	// The policy that is written makes the change one that speaks about everything.
	everything := Change{Policy: PolicyNone}
	return everything.before(w)
}

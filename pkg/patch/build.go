package patch

import (
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Workload names the object whose pod template decides the pod's dnsConfig.
type Workload struct {
	Owner     probe.Owner
	Namespace string
	// DNSConfig is what the template has now; nil when it has none.
	DNSConfig *DNSConfig
	// DNSPolicy is that of the template ("ClusterFirst"), empty when it is not known.
	DNSPolicy string
}

// Pod is the Workload of a pod that nothing owns.
func Pod(namespace, name string, existing *DNSConfig) Workload {
	return Workload{Owner: probe.Owner{APIVersion: "v1", Kind: "Pod", Name: name}, Namespace: namespace, DNSConfig: existing}
}

// Build writes the change of ndots down for w. Names are those that were checked with it.
//
// The command is empty when the object cannot be changed in place, or when its name is none that Kubernetes accepts: then
// nothing is known about what a shell would make of it.
func Build(w Workload, ndots int, names []probe.PatchName) (probe.Patch, error) {
	kind := workloadOf(w.Owner)
	var existing []Option
	if w.DNSConfig != nil {
		existing = w.DNSConfig.Options
	}
	after := withNdots(existing, ndots)
	body, err := render(kind.path, after)
	if err != nil {
		return probe.Patch{}, fmt.Errorf("write the patch of %s %s: %w", w.Owner.Kind, w.Owner.Name, err)
	}
	p := probe.Patch{
		APIVersion: w.Owner.APIVersion, Kind: w.Owner.Kind, Namespace: w.Namespace, Name: w.Owner.Name,
		YAML: body, Effect: kind.effect(w.Owner), Variant: fmt.Sprintf("ndots:%d", ndots), Names: names,
	}
	if p.Names == nil {
		p.Names = []probe.PatchName{}
	}
	if p.Diff, err = diff(kind.path, w.DNSConfig, after); err != nil {
		return probe.Patch{}, fmt.Errorf("compare the patch of %s %s: %w", w.Owner.Kind, w.Owner.Name, err)
	}
	if !kind.inPlace || !objectName(w.Owner.Name) || w.Namespace != "" && !objectName(w.Namespace) {
		return p, nil
	}
	if p.Command, err = command(w, kind, after); err != nil {
		return probe.Patch{}, err
	}
	p.Undo, err = undo(w, kind)
	return p, err
}

// nest puts value below path: nest([a b], v) is {a: {b: v}}.
func nest(path []string, value any) any {
	for i := len(path) - 1; i >= 0; i-- {
		value = map[string]any{path[i]: value}
	}
	return value
}

// below is the part of a pod spec that the patch speaks about. Nil options are written as null, which takes the list away.
func below(options []Option) any {
	return map[string]any{"dnsConfig": map[string]any{"options": options}}
}

func render(path []string, options []Option) (string, error) {
	text, err := yaml.Marshal(nest(path, below(options)))
	return string(text), err
}

// command is the kubectl command that applies options. The API server, not the shell, has to see the patch: it stands in
// single quotes, in which only the quote itself means something to a POSIX shell.
func command(w Workload, kind workload, options []Option) (string, error) {
	return patchCommand(w, kind, nest(kind.path, below(options)))
}

func patchCommand(w Workload, kind workload, body any) (string, error) {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	// "<" as \u003c would be the same to the server, but not to the person who reads the command first.
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return "", fmt.Errorf("write the command for %s %s: %w", w.Owner.Kind, w.Owner.Name, err)
	}
	return fmt.Sprintf("kubectl%s patch %s %s --type strategic -p %s",
		flagNamespace(w.Namespace), kind.resource, w.Owner.Name, quote(strings.TrimSpace(text.String()))), nil
}

// undo takes the change back: by the workload's own history where it has one, else by writing the old options.
func undo(w Workload, kind workload) (string, error) {
	if kind.rollout {
		return fmt.Sprintf("kubectl%s rollout undo %s/%s", flagNamespace(w.Namespace), kind.resource, w.Owner.Name), nil
	}
	if w.DNSConfig == nil {
		return patchCommand(w, kind, nest(kind.path, map[string]any{"dnsConfig": nil}))
	}
	return command(w, kind, w.DNSConfig.Options)
}

func flagNamespace(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " -n " + namespace
}

// quote makes text one word of a POSIX shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// objectName says whether s is a name as the API server accepts it for the objects here (RFC 1123 subdomain), and so one word
// of a shell.
func objectName(s string) bool {
	if s == "" || len(s) > 253 || s[0] == '-' || s[0] == '.' {
		return false
	}
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

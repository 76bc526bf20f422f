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

// Build writes a change down for w. Names are those that were checked with it.
//
// The command is empty when the object cannot be changed in place, or when its name is none that Kubernetes accepts: then
// nothing is known about what a shell would make of it.
func Build(w Workload, c Change, names []probe.PatchName) (probe.Patch, error) {
	if err := c.possible(); err != nil {
		return probe.Patch{}, fmt.Errorf("write the patch of %s %s: %w", w.Owner.Kind, w.Owner.Name, err)
	}
	kind := workloadOf(w.Owner)
	body, err := yaml.Marshal(nest(kind.path, c.after(w)))
	if err != nil {
		return probe.Patch{}, fmt.Errorf("write the patch of %s %s: %w", w.Owner.Kind, w.Owner.Name, err)
	}
	p := probe.Patch{
		APIVersion: w.Owner.APIVersion, Kind: w.Owner.Kind, Namespace: w.Namespace, Name: w.Owner.Name,
		YAML: string(body), Effect: kind.effect(w.Owner), Variant: c.Variant.Label(), Names: names, Caveats: c.caveats(),
	}
	if p.Names == nil {
		p.Names = []probe.PatchName{}
	}
	if p.Diff, err = diff(kind.path, c.before(w), c.after(w)); err != nil {
		return probe.Patch{}, fmt.Errorf("compare the patch of %s %s: %w", w.Owner.Kind, w.Owner.Name, err)
	}
	if !kind.inPlace || !objectName(w.Owner.Name) || w.Namespace != "" && !objectName(w.Namespace) {
		return p, nil
	}
	if p.Command, err = patchCommand(w, kind, nest(kind.path, c.after(w))); err != nil {
		return probe.Patch{}, err
	}
	p.Undo, err = c.undo(w, kind)
	return p, err
}

// nest puts value below path: nest([a b], v) is {a: {b: v}}.
func nest(path []string, value any) any {
	for i := len(path) - 1; i >= 0; i-- {
		value = map[string]any{path[i]: value}
	}
	return value
}

// after is what the patch says about a pod spec. The lists of dnsConfig are atomic, so those that it names carry what is there already.
func (c Change) after(w Workload) map[string]any {
	spec := map[string]any{}
	switch {
	case c.Policy == PolicyNone:
		spec["dnsConfig"] = map[string]any{"nameservers": c.Nameservers, "searches": c.Searches, "options": c.Options}
	case len(c.Options) > 0:
		var existing []Option
		if w.DNSConfig != nil {
			existing = w.DNSConfig.Options
		}
		spec["dnsConfig"] = map[string]any{"options": withOptions(existing, c.Options)}
	}
	if c.Policy != "" {
		spec["dnsPolicy"] = c.Policy
	}
	return spec
}

// before is what w has now of that which the patch speaks about.
func (c Change) before(w Workload) map[string]any {
	spec := map[string]any{}
	if w.DNSConfig != nil && (c.Policy == PolicyNone || len(c.Options) > 0) {
		config := map[string]any{}
		if len(w.DNSConfig.Options) > 0 {
			config["options"] = w.DNSConfig.Options
		}
		if c.Policy == PolicyNone && len(w.DNSConfig.Nameservers) > 0 {
			config["nameservers"] = w.DNSConfig.Nameservers
		}
		if c.Policy == PolicyNone && len(w.DNSConfig.Searches) > 0 {
			config["searches"] = w.DNSConfig.Searches
		}
		spec["dnsConfig"] = config
	}
	if c.Policy != "" && w.DNSPolicy != "" {
		spec["dnsPolicy"] = w.DNSPolicy
	}
	return spec
}

// caveats are the sentences of c, what cannot be seen first.
func (c Change) caveats() []string {
	if c.Unseen == "" {
		return c.Caveats
	}
	return append([]string{c.Unseen}, c.Caveats...)
}

// patchCommand is the kubectl command that applies a patch. The API server, not the shell, has to see the patch: it stands in
// single quotes, in which only the quote itself means something to a POSIX shell.
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

// undo takes the change back: by the workload's own history where it has one, else by writing what was there before. Null takes a field
// away.
func (c Change) undo(w Workload, kind workload) (string, error) {
	if kind.rollout {
		return fmt.Sprintf("kubectl%s rollout undo %s/%s", flagNamespace(w.Namespace), kind.resource, w.Owner.Name), nil
	}
	old := c.before(w)
	for key, value := range c.after(w) {
		was, had := old[key].(map[string]any)
		lists, is := value.(map[string]any)
		if is && had {
			for list := range lists {
				if _, kept := was[list]; !kept {
					was[list] = nil
				}
			}
		} else if _, kept := old[key]; !kept {
			old[key] = nil
		}
	}
	return patchCommand(w, kind, nest(kind.path, old))
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

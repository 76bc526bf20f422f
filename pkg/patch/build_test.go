package patch

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func value(s string) *string { return &s }

func replicas(n int32) *int32 { return &n }

func deployment(existing *DNSConfig) Workload {
	return Workload{
		Owner: probe.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "payments", Replicas: replicas(3)}, Namespace: "shop", DNSConfig: existing,
	}
}

func build(t *testing.T, w Workload, ndots int) probe.Patch {
	t.Helper()
	p, err := Build(w, Ndots(ndots), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDeploymentInFull(t *testing.T) {
	names := []probe.PatchName{{Name: "api.stripe.com", Same: true}}
	got, err := Build(deployment(nil), Ndots(2), names)
	if err != nil {
		t.Fatal(err)
	}
	want := probe.Patch{
		APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "payments",
		YAML: `spec:
  template:
    spec:
      dnsConfig:
        options:
        - name: ndots
          value: "2"
`,
		Diff: `  spec:
    template:
      spec:
+       dnsConfig:
+         options:
+         - name: ndots
+           value: "2"
`,
		Command: `kubectl -n shop patch deployment payments --type strategic -p '{"spec":{"template":{"spec":{"dnsConfig":{"options":[{"name":"ndots","value":"2"}]}}}}}'`,
		Undo:    "kubectl -n shop rollout undo deployment/payments",
		Effect:  "the Deployment rolls its 3 pods",
		Variant: "ndots:2",
		Names:   names,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// existingOptions are templates with a dnsConfig, and what becomes of it with ndots 3: below "options:" of the YAML, and below
// "spec:" of the diff.
var existingOptions = map[string]struct {
	existing *DNSConfig
	yaml     string
	diff     string
}{
	"ndots stands in the middle": {
		&DNSConfig{Options: []Option{{Name: "edns0"}, {Name: "ndots", Value: value("5")}, {Name: "timeout", Value: value("1")}}},
		`        - name: edns0
        - name: ndots
          value: "3"
        - name: timeout
          value: "1"
`,
		`        dnsConfig:
          options:
          - name: edns0
          - name: ndots
-           value: "5"
+           value: "3"
          - name: timeout
            value: "1"
`,
	},
	"ndots is new": {
		&DNSConfig{Options: []Option{{Name: "single-request-reopen"}}},
		`        - name: single-request-reopen
        - name: ndots
          value: "3"
`,
		`        dnsConfig:
          options:
          - name: single-request-reopen
+         - name: ndots
+           value: "3"
`,
	},
	"ndots stands twice": {
		&DNSConfig{Options: []Option{{Name: "ndots", Value: value("4")}, {Name: "ndots", Value: value("5")}}},
		`        - name: ndots
          value: "3"
`,
		`        dnsConfig:
          options:
          - name: ndots
-           value: "4"
-         - name: ndots
-           value: "5"
+           value: "3"
`,
	},
	"ndots without a value": {
		&DNSConfig{Options: []Option{{Name: "ndots"}}},
		`        - name: ndots
          value: "3"
`,
		`        dnsConfig:
          options:
          - name: ndots
+           value: "3"
`,
	},
	"a dnsConfig with only nameservers": {
		&DNSConfig{},
		`        - name: ndots
          value: "3"
`,
		`        dnsConfig:
+         options:
+         - name: ndots
+           value: "3"
`,
	},
	"values that YAML would read as something else": {
		&DNSConfig{Options: []Option{{Name: "on", Value: value("yes")}, {Name: "x", Value: value("")}, {Name: "# y", Value: value("a: 'b'\n")}}},
		`        - name: "on"
          value: "yes"
        - name: x
          value: ""
        - name: '# y'
          value: |
            a: 'b'
        - name: ndots
          value: "3"
`,
		`        dnsConfig:
          options:
          - name: "on"
            value: "yes"
          - name: x
            value: ""
          - name: '# y'
            value: |
              a: 'b'
+         - name: ndots
+           value: "3"
`,
	},
}

func TestExistingOptionsAreCarriedOver(t *testing.T) {
	for name, tt := range existingOptions {
		t.Run(name, func(t *testing.T) {
			p := build(t, deployment(tt.existing), 3)
			if diff := cmp.Diff("spec:\n  template:\n    spec:\n      dnsConfig:\n        options:\n"+tt.yaml, p.YAML); diff != "" {
				t.Errorf("YAML: %s", diff)
			}
			if diff := cmp.Diff("  spec:\n    template:\n      spec:\n"+tt.diff, p.Diff); diff != "" {
				t.Errorf("diff: %s", diff)
			}
		})
	}
}

func TestKindsOfOwners(t *testing.T) {
	const template = "spec.template.spec"
	tests := []struct {
		owner                       probe.Owner
		path, command, undo, effect string
	}{
		{
			probe.Owner{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", Replicas: replicas(1)},
			template,
			"kubectl -n shop patch statefulset db --type strategic -p ", "kubectl -n shop rollout undo statefulset/db", "the StatefulSet rolls its 1 pod, one after the other",
		},
		{
			probe.Owner{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent"},
			template,
			"kubectl -n shop patch daemonset agent --type strategic -p ", "kubectl -n shop rollout undo daemonset/agent", "the DaemonSet rolls its pods, node by node",
		},
		{
			probe.Owner{APIVersion: "batch/v1", Kind: "CronJob", Name: "bill"},
			"spec.jobTemplate.spec.template.spec",
			"kubectl -n shop patch cronjob bill --type strategic -p ",
			`kubectl -n shop patch cronjob bill --type strategic -p '{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"dnsConfig":null}}}}}}'`,
			"the CronJob's next Job gets it",
		},
		{
			probe.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", Replicas: replicas(2)},
			template,
			"kubectl -n shop patch replicaset rs --type strategic -p ",
			`kubectl -n shop patch replicaset rs --type strategic -p '{"spec":{"template":{"spec":{"dnsConfig":null}}}}'`,
			"only new pods of the ReplicaSet get it",
		},
		{
			probe.Owner{APIVersion: "v1", Kind: "ReplicationController", Name: "rc"},
			template,
			"kubectl -n shop patch replicationcontroller rc --type strategic -p ",
			`kubectl -n shop patch replicationcontroller rc --type strategic -p '{"spec":{"template":{"spec":{"dnsConfig":null}}}}'`,
			"only new pods of the ReplicationController get it",
		},
		{probe.Owner{APIVersion: "batch/v1", Kind: "Job", Name: "once"}, template, "", "", "the pod template of a Job cannot be changed"},
		{probe.Owner{APIVersion: "v1", Kind: "Pod", Name: "alone"}, "spec", "", "", "the dnsConfig of a pod cannot be changed"},
		{
			probe.Owner{APIVersion: "argoproj.io/v1alpha1", Kind: "Rollout", Name: "web"},
			template, "", "",
			"put this into the pod template of the Rollout (assumed at spec.template.spec)",
		},
		// The same word in another API group is another kind.
		{probe.Owner{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "db"}, template, "", "", "put this into the pod template of the StatefulSet"},
		{probe.Owner{APIVersion: "", Kind: "Deployment", Name: "x"}, template, "", "", "put this into the pod template of the Deployment"},
		{probe.Owner{APIVersion: "x/v1", Kind: "E\x1b[2Jvil", Name: "x"}, template, "", "", `put this into the pod template of the E\x1b[2Jvil`},
	}
	for _, tt := range tests {
		t.Run(tt.owner.APIVersion+" "+tt.owner.Kind, func(t *testing.T) {
			p := build(t, Workload{Owner: tt.owner, Namespace: "shop"}, 2)
			var doc map[string]any
			if err := yaml.Unmarshal([]byte(p.YAML), &doc); err != nil {
				t.Fatal(err)
			}
			at := any(doc)
			for _, key := range strings.Split(tt.path, ".") {
				at = at.(map[string]any)[key]
			}
			want := map[string]any{"dnsConfig": map[string]any{"options": []any{map[string]any{"name": "ndots", "value": "2"}}}}
			if diff := cmp.Diff(any(want), at); diff != "" {
				t.Errorf("below %s: %s", tt.path, diff)
			}
			if !strings.HasPrefix(p.Command, tt.command) || (tt.command == "") != (p.Command == "") {
				t.Errorf("command %q, want %q", p.Command, tt.command)
			}
			if p.Undo != tt.undo {
				t.Errorf("undo %q, want %q", p.Undo, tt.undo)
			}
			if !strings.HasPrefix(p.Effect, tt.effect) {
				t.Errorf("effect %q, want %q", p.Effect, tt.effect)
			}
			if p.Names == nil {
				t.Error("names are null in JSON")
			}
		})
	}
}

// TestCommandMeansTheSameToAShell pastes commands into a real shell, with a kubectl that prints its arguments.
func TestCommandMeansTheSameToAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatalf("this test needs sh: %v", err)
	}
	odd := []Option{{Name: "it's", Value: value("$(touch x) `id` \\ \" ; rm -rf <&>")}, {Name: "new\nline"}}
	w := deployment(&DNSConfig{Options: odd})
	for _, owner := range []string{"Deployment", "CronJob"} {
		w := w
		w.Owner.Kind = owner
		if owner == "CronJob" {
			w.Owner.APIVersion = "batch/v1"
		}
		p := build(t, w, 2)
		for _, command := range []string{p.Command, p.Undo} {
			if strings.Contains(command, "\n") {
				t.Errorf("more than one line: %q", command)
			}
			script := "kubectl() { for a; do printf '%s\\0' \"$a\"; done; }\n" + command
			out, err := exec.Command(sh, "-c", script).Output()
			if err != nil {
				t.Fatalf("%s: %v", command, err)
			}
			args := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
			if args[0] != "-n" || args[1] != "shop" {
				t.Errorf("arguments %q", args)
			}
			if args[2] != "patch" {
				continue
			}
			if len(args) != 9 || args[5] != "--type" || args[6] != "strategic" || args[7] != "-p" {
				t.Fatalf("%d arguments: %q", len(args), args)
			}
			body := args[len(args)-1]
			var doc any
			if err := json.Unmarshal([]byte(body), &doc); err != nil {
				t.Fatalf("the last argument is no JSON: %v\n%s", err, body)
			}
			if !strings.Contains(body, `"it's"`) || !strings.Contains(body, "$(touch x)") {
				t.Errorf("an option did not come through: %s", body)
			}
		}
	}
}

func TestNoCommandForNamesThatNoServerAccepts(t *testing.T) {
	for _, name := range []string{"", "a b", "$(id)", "x;y", "-rf", "Upper", "a'b", strings.Repeat("a", 254), ".", "ä"} {
		w := deployment(nil)
		w.Owner.Name = name
		if p := build(t, w, 2); p.Command != "" || p.Undo != "" || p.YAML == "" {
			t.Errorf("name %q: command %q, undo %q", name, p.Command, p.Undo)
		}
		w = deployment(nil)
		w.Namespace = name
		if p := build(t, w, 2); name != "" && p.Command != "" {
			t.Errorf("namespace %q: command %q", name, p.Command)
		}
	}
	w := deployment(nil)
	w.Namespace = ""
	if p := build(t, w, 2); !strings.HasPrefix(p.Command, "kubectl patch deployment payments ") || p.Undo != "kubectl rollout undo deployment/payments" {
		t.Errorf("without a namespace: %q, %q", p.Command, p.Undo)
	}
}

// spec is the pod spec that the API server's own merge is tried on.
func spec() corev1.PodSpec {
	return corev1.PodSpec{
		Containers: []corev1.Container{{Name: "app", Image: "app:1"}, {Name: "side", Image: "side:1"}},
		DNSPolicy:  corev1.DNSClusterFirst,
		DNSConfig: &corev1.PodDNSConfig{
			Nameservers: []string{"192.0.2.53"}, Searches: []string{"corp.example"},
			Options: []corev1.PodDNSConfigOption{{Name: "timeout", Value: value("1")}, {Name: "ndots", Value: value("5")}, {Name: "edns0"}},
		},
	}
}

// options are the dnsConfig options that spec has, as a Workload knows them.
func options() *DNSConfig {
	return &DNSConfig{Options: []Option{{Name: "timeout", Value: value("1")}, {Name: "ndots", Value: value("5")}, {Name: "edns0"}}}
}

// merge applies what the API server applies for --type strategic.
func merge[T any](t *testing.T, object T, patch string) T {
	t.Helper()
	before, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	body, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	var kind, out T
	after, err := strategicpatch.StrategicMergePatch(before, body, kind)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(after, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func wantSpec() corev1.PodSpec {
	s := spec()
	s.DNSConfig.Options[1].Value = value("2")
	return s
}

func TestMergeLeavesEverythingElseAlone(t *testing.T) {
	template := corev1.PodTemplateSpec{Spec: spec()}
	check := func(name string, got corev1.PodSpec) {
		t.Helper()
		if diff := cmp.Diff(wantSpec(), got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	of := func(apiVersion, kind string) string {
		return build(t, Workload{Owner: probe.Owner{APIVersion: apiVersion, Kind: kind, Name: "x"}, Namespace: "shop", DNSConfig: options()}, 2).YAML
	}
	check("Deployment", merge(t, appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: template}}, of("apps/v1", "Deployment")).Spec.Template.Spec)
	check("StatefulSet", merge(t, appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: template}}, of("apps/v1", "StatefulSet")).Spec.Template.Spec)
	check("DaemonSet", merge(t, appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: template}}, of("apps/v1", "DaemonSet")).Spec.Template.Spec)
	check("ReplicaSet", merge(t, appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Template: template}}, of("apps/v1", "ReplicaSet")).Spec.Template.Spec)
	check("CronJob", merge(t, batchv1.CronJob{Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template}}}},
		of("batch/v1", "CronJob")).Spec.JobTemplate.Spec.Template.Spec)
	check("Job", merge(t, batchv1.Job{Spec: batchv1.JobSpec{Template: template}}, of("batch/v1", "Job")).Spec.Template.Spec)
	check("Pod", merge(t, corev1.Pod{Spec: spec()}, of("v1", "Pod")).Spec)
}

func TestMergeIntoATemplateWithoutDNSConfig(t *testing.T) {
	s := spec()
	s.DNSConfig = nil
	got := merge(t, appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: s}}}, build(t, deployment(nil), 2).YAML)
	want := &corev1.PodDNSConfig{Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: value("2")}}}
	if diff := cmp.Diff(want, got.Spec.Template.Spec.DNSConfig); diff != "" {
		t.Error(diff)
	}
}

// TestUndoTakesTheChangeBack applies a patch and its undo as the API server would.
func TestUndoTakesTheChangeBack(t *testing.T) {
	bare := spec()
	bare.DNSConfig = nil
	onlyServers := spec()
	onlyServers.DNSConfig.Options = nil
	for name, tt := range map[string]struct {
		spec     corev1.PodSpec
		existing *DNSConfig
	}{
		"with options":      {spec(), options()},
		"with only servers": {onlyServers, &DNSConfig{}},
		"without any":       {bare, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := Workload{Owner: probe.Owner{APIVersion: "batch/v1", Kind: "CronJob", Name: "bill"}, Namespace: "shop", DNSConfig: tt.existing}
			p := build(t, w, 2)
			_, body, ok := strings.Cut(p.Undo, " -p '")
			if !ok {
				t.Fatalf("undo %q has no patch", p.Undo)
			}
			before := batchv1.CronJob{Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: tt.spec}}}}}
			after := merge(t, merge(t, before, p.YAML), strings.TrimSuffix(body, "'"))
			if diff := cmp.Diff(before, after); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCommandAndYAMLSayTheSame guards against two writers that drift apart.
func TestCommandAndYAMLSayTheSame(t *testing.T) {
	for _, existing := range []*DNSConfig{nil, {}, options()} {
		p := build(t, deployment(existing), 4)
		fromYAML, err := yaml.YAMLToJSON([]byte(p.YAML))
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(p.Command, " -p '")
		if got := strings.TrimSuffix(body, "'"); got != string(fromYAML) {
			t.Errorf("command has %s\nYAML has %s", got, fromYAML)
		}
	}
}

func TestYAMLRoundTrip(t *testing.T) {
	p := build(t, deployment(options()), 2)
	var doc any
	if err := yaml.UnmarshalStrict([]byte(p.YAML), &doc); err != nil {
		t.Fatal(err)
	}
	again, err := yaml.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != p.YAML {
		t.Errorf("read and written again:\n%s\nwant\n%s", again, p.YAML)
	}
}

func TestBuildLeavesTheWorkloadAlone(t *testing.T) {
	existing := options()
	build(t, deployment(existing), 2)
	if diff := cmp.Diff(options(), existing); diff != "" {
		t.Errorf("the options that were passed in have changed: %s", diff)
	}
}

func TestPodWithoutOwner(t *testing.T) {
	p := build(t, Pod("shop", "alone", nil), 2)
	want := "spec:\n  dnsConfig:\n    options:\n    - name: ndots\n      value: \"2\"\n"
	if p.YAML != want || p.Command != "" || p.Undo != "" || p.Kind != "Pod" || p.APIVersion != "v1" {
		t.Errorf("%+v", p)
	}
}

// TestDiffLeadsFromOneToTheOther takes the diff at its word.
func TestDiffLeadsFromOneToTheOther(t *testing.T) {
	lists := [][]Option{
		nil,
		{{Name: "a"}},
		{{Name: "ndots", Value: value("5")}},
		{{Name: "a"}, {Name: "ndots", Value: value("1")}, {Name: "b", Value: value("x")}},
		{{Name: "ndots"}, {Name: "ndots", Value: value("2")}, {Name: "z"}},
		{{Name: "b"}, {Name: "a"}, {Name: "b"}},
	}
	for _, list := range lists {
		p := build(t, deployment(&DNSConfig{Options: list}), 2)
		var before, after []string
		for _, l := range strings.Split(strings.TrimSuffix(p.Diff, "\n"), "\n") {
			sign, text := l[:2], l[2:]
			if sign != "+ " {
				before = append(before, text)
			}
			if sign != "- " {
				after = append(after, text)
			}
		}
		if got := strings.Join(after, "\n") + "\n"; got != p.YAML {
			t.Errorf("%v: after the diff:\n%s\nwant\n%s", list, got, p.YAML)
		}
		was, err := yaml.Marshal(nest(templateSpec, map[string]any{"dnsConfig": map[string]any{"options": list}}))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(before, "\n") + "\n"; got != string(was) && len(list) > 0 {
			t.Errorf("%v: before the diff:\n%s\nwant\n%s", list, got, was)
		}
	}
}

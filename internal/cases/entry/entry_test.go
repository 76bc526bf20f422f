package entry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestCases holds the cases of the way in against what they expect.
func TestCases(t *testing.T) {
	files, err := Files("../../pipeline/testdata/cases")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		c := Check(t.Context(), f)
		t.Run(c.Name, func(t *testing.T) {
			if c.Err != nil {
				t.Fatal(c.Err)
			}
			for _, s := range c.Statements {
				if !s.Met {
					t.Error(s)
				}
			}
		})
	}
}

const plain = `
pod:
  metadata: {name: app-1, namespace: shop}
  spec: {nodeName: node-a, securityContext: {runAsUser: 1000}, containers: [{name: app, image: "shop/app:1"}]}
  status: {phase: Running, containerStatuses: [{name: app, image: "shop/app:1", imageID: "", ready: true, restartCount: 0, state: {running: {}}}]}
`

func TestWhatIsNotMetIsSeen(t *testing.T) {
	for name, tt := range map[string]struct{ text, missed string }{
		"gets in":           {`expect: {class: "", says: ["app-1"], container: ["drop: - ALL"], never: [NXDOMAIN]}`, ""},
		"class":             {`expect: {class: probe-not-allowed}`, `class "probe-not-allowed"`},
		"says":              {`expect: {class: "", says: [a word of magic]}`, `says "a word of magic"`},
		"container":         {`expect: {class: "", container: ["privileged: true"]}`, `container "privileged: true"`},
		"never":             {`expect: {class: "", never: [ephemeral container]}`, `never "ephemeral container"`},
		"webhook":           {"images: [other.example/]\nexpect: {class: \"\"}", "images.policy.example"},
		"restricted":        {"namespaceLabels: {pod-security.kubernetes.io/enforce: restricted}\nexpect: {class: \"\"}", "runAsNonRoot"},
		"may not":           {"denied: [create pods/exec]\nexpect: {class: \"\"}", "create pods/exec"},
		"only the API does": {"denied: [patch pods/ephemeralcontainers]\nexpect: {class: probe-not-allowed, never: [jane]}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x"+Suffix)
			if err := os.WriteFile(path, []byte(plain+tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			c := Check(t.Context(), path)
			if c.Err != nil {
				t.Fatal(c.Err)
			}
			var missed []string
			for _, s := range c.Statements {
				if !s.Met {
					missed = append(missed, s.String())
				}
			}
			if got := strings.Join(missed, "; "); (got == "") != (tt.missed == "") || !strings.Contains(got, tt.missed) {
				t.Errorf("missed %q, want %q", got, tt.missed)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no pod":        `expect: {class: ""}`,
		"no class":      plain,
		"unknown field": plain + "expect: {class: \"\"}\nhosts: [x]",
		"not YAML":      "\t{",
	} {
		path := filepath.Join(t.TempDir(), "x"+Suffix)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if c := Check(t.Context(), path); c.Err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

// The modelled kubelet refuses what the real one does, so that a case can fail on it.
func TestKubelet(t *testing.T) {
	nonRoot := corev1.Pod{Spec: corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: new(true)}}}
	with := func(uid int64) *corev1.EphemeralContainer {
		c := &corev1.EphemeralContainer{}
		c.SecurityContext = &corev1.SecurityContext{RunAsUser: new(uid)}
		return c
	}
	for name, tt := range map[string]struct {
		pod  corev1.Pod
		c    *corev1.EphemeralContainer
		runs bool
	}{
		"root image": {nonRoot, &corev1.EphemeralContainer{}, false},
		"uid 0":      {nonRoot, with(0), false},
		"uid 1000":   {nonRoot, with(1000), true},
		"any":        {corev1.Pod{}, &corev1.EphemeralContainer{}, true},
	} {
		if got := kubelet(&tt.pod, tt.c).Running != nil; got != tt.runs {
			t.Errorf("%s: runs %v", name, got)
		}
	}
}

package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// trial is an applier on a fake cluster, with what it wrote and said, and the patches that the API server got.
type trial struct {
	applier
	out       bytes.Buffer
	said      []string
	dry, real int
	questions []string
}

// resolvedIn is a run in a pod that resolved api.stripe.com with n queries.
func resolvedIn(pod string, n int, outcome probe.Outcome) probe.Run {
	r := probe.Resolution{Host: "api.stripe.com", Variant: probe.VariantNow, Outcome: outcome, QueriesSent: n, Addresses: []string{"203.0.113.7"}}
	return probe.Run{Target: probe.Target{Pod: pod}, Resolutions: []probe.Resolution{r}}
}

// newTrial returns an applier whose question is answered with yes, on a Deployment that is rolled out at once. A dry run stores nothing,
// which the fake clientset does not know.
func newTrial(t *testing.T) *trial {
	t.Helper()
	k, client := fakeCluster(t)
	p, err := patch.Build(patch.Workload{Owner: probe.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "payments", Replicas: new(int32(3))}, Namespace: "shop"}, patch.Ndots(2), nil)
	if err != nil {
		t.Fatal(err)
	}
	tr := &trial{}
	client.PrependReactor("patch", "deployments", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if action := a.(clienttesting.PatchActionImpl); len(action.PatchOptions.DryRun) == 0 {
			tr.real++
		} else {
			tr.dry++
		}
		// A reactor may not ask the client that it is a part of.
		stored, err := client.Tracker().Get(appsv1.SchemeGroupVersion.WithResource("deployments"), "shop", "payments")
		if err != nil {
			return true, nil, err
		}
		d := stored.(*appsv1.Deployment).DeepCopy()
		d.Spec.Template.Spec.DNSConfig = &corev1.PodDNSConfig{Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: new("2")}}}
		d.Status = appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3}
		if tr.real == 0 {
			return true, d, nil
		}
		old, err := client.Tracker().Get(corev1.SchemeGroupVersion.WithResource("pods"), "shop", "payments-1")
		if err != nil {
			return true, nil, err
		}
		pod := old.(*corev1.Pod).DeepCopy()
		pod.Spec.DNSConfig = d.Spec.Template.Spec.DNSConfig
		if err := client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), pod, "shop"); err != nil {
			return true, nil, err
		}
		return true, d, client.Tracker().Update(appsv1.SchemeGroupVersion.WithResource("deployments"), d, "shop")
	})
	tr.applier = applier{
		kube: k, out: &tr.out, say: func(s string) { tr.said = append(tr.said, s) }, patch: p, before: resolvedIn("payments-0", 10, probe.OK), rollout: time.Minute,
		ask: func(_ context.Context, q string) (bool, error) {
			tr.questions = append(tr.questions, q)
			return true, nil
		},
		again: func(context.Context, string) (probe.Run, error) { return resolvedIn("payments-1", 2, probe.OK), nil },
		ticks: func() (<-chan time.Time, func()) { return nil, func() {} },
	}
	return tr
}

const undoPayments = "kubectl -n shop rollout undo deployment/payments"

func TestApplyStepByStep(t *testing.T) {
	tr := newTrial(t)
	if err := tr.apply(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &tr.out)
	}
	if tr.dry != 1 || tr.real != 1 || len(tr.questions) != 1 || tr.questions[0] != "Change Deployment shop/payments? The Deployment rolls its 3 pods. Type yes to go on: " {
		t.Errorf("%d dry runs, %d changes, asked %q", tr.dry, tr.real, tr.questions)
	}
	rest := tr.out.String()
	for _, want := range []string{
		"The API server tried it", "+         - name: ndots", "Deployment shop/payments is changed.", "Rolled out: 3 of 3 pods are new and available.",
		"Before in pod payments-0, after in pod payments-1:", "api.stripe.com  10 to 2 queries, 0 ms to 0 ms, same address", "Take it back: " + undoPayments,
	} {
		before, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("%q is not in what is left of the output after %q:\n%s", want, before, rest)
		}
		rest = after
	}
}

func TestWhatKeepsAChangeFromBeingMade(t *testing.T) {
	refuse := func(tr *trial) {
		tr.kube.client.(interface {
			PrependReactor(verb, resource string, reaction clienttesting.ReactionFunc)
		}).PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
			return true, a.(clienttesting.CreateAction).GetObject().(*authv1.SelfSubjectAccessReview), nil
		})
	}
	interrupted := func(tr *trial) {
		tr.ask = func(context.Context, string) (bool, error) { return false, context.Canceled }
	}
	tests := map[string]struct {
		change         func(*trial)
		err, said, out string
		dry            int
	}{
		"only a dry run":      {func(tr *trial) { tr.server = true }, "", "", "Nothing was changed (--dry-run=server).", 1},
		"no":                  {func(tr *trial) { tr.ask = func(context.Context, string) (bool, error) { return false, nil } }, "", "", "Nothing was changed.", 1},
		"asking failed":       {interrupted, "context canceled", "nothing was changed", "", 1},
		"without permission":  {refuse, `you may not change Deployment shop/payments: missing is verb patch on resource deployments of API group "apps"`, "nothing was changed", "", 0},
		"not changeable":      {func(tr *trial) { tr.patch.Command = "" }, "cannot be changed in place", "", "", 0},
		"it is not there":     {func(tr *trial) { tr.patch.Name = "other" }, "there is no Deployment other", "nothing was changed", "", 0},
		"another kind's name": {func(tr *trial) { tr.patch.Kind = "Rollout" }, "is not changed by this tool", "nothing was changed", "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t)
			tt.change(tr)
			err := tr.apply(t.Context())
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if tr.real != 0 || tr.dry != tt.dry {
				t.Errorf("%d changes, %d dry runs", tr.real, tr.dry)
			}
			if !strings.Contains(strings.Join(tr.said, "\n"), tt.said) || !strings.Contains(tr.out.String(), tt.out) {
				t.Errorf("said %q, wrote\n%s", tr.said, &tr.out)
			}
		})
	}
}

// TestWhatComesAfterTheChangeSaysHowToTakeItBack: whatever goes wrong then, nobody is left without the state and the undo.
func TestWhatComesAfterTheChangeSaysHowToTakeItBack(t *testing.T) {
	lost := errors.New("the session has ended")
	waiting := func(tr *trial) {
		tr.ticks = func() (<-chan time.Time, func()) { return nil, func() {} }
		client := tr.kube.client
		changed := false
		tr.ask = func(context.Context, string) (bool, error) { changed = true; return true, nil }
		client.(interface {
			PrependReactor(verb, resource string, reaction clienttesting.ReactionFunc)
		}).PrependReactor("get", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
			if tr.real == 0 || !changed {
				return false, nil, nil
			}
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "payments", Namespace: "shop"}, Spec: appsv1.DeploymentSpec{Replicas: new(int32(3))}}
			d.Spec.Template.Spec.DNSConfig = &corev1.PodDNSConfig{Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: new("2")}}}
			return true, d, nil
		})
	}
	tests := map[string]struct {
		change func(*trial)
		stop   bool
		err    string
		said   string
	}{
		"interrupted while it rolls out": {waiting, true, "context canceled", "interrupted: the change is made, and the rollout goes on by itself"},
		"it takes too long":              {func(tr *trial) { waiting(tr); tr.rollout = time.Nanosecond }, false, "the rollout has not ended within 1ns", "the change is made, and the rollout goes on by itself"},
		"the new pod cannot be probed": {
			func(tr *trial) {
				tr.again = func(context.Context, string) (probe.Run, error) { return probe.Run{}, lost }
			}, false,
			"look at a new pod: the session has ended", "the change is made and rolled out",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t)
			tt.change(tr)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			say := tr.say
			tr.say = func(s string) {
				if say(s); tt.stop && strings.HasPrefix(s, "rollout: ") {
					cancel()
				}
			}
			err := tr.apply(ctx)
			if err == nil || !strings.Contains(err.Error(), tt.err) || tr.real != 1 {
				t.Errorf("error %v, %d changes", err, tr.real)
			}
			said := strings.Join(tr.said, "\n")
			if !strings.Contains(said, tt.said) || !strings.Contains(said, "take it back: "+undoPayments) || !strings.Contains(said, "rollout status deployment/payments") {
				t.Errorf("said\n%s", said)
			}
		})
	}
}

func TestANameThatBreaksInTheNewPodIsAnError(t *testing.T) {
	tr := newTrial(t)
	tr.again = func(context.Context, string) (probe.Run, error) {
		return resolvedIn("payments-1", 2, probe.NXDomain), nil
	}
	err := tr.apply(t.Context())
	var exit *exitError
	if !errors.As(err, &exit) || exit.code != ExitUnresolved || exit.next != undoPayments || !strings.Contains(tr.out.String(), "nxdomain instead of 203.0.113.7") {
		t.Errorf("%v\n%s", err, &tr.out)
	}
}

func TestOnlyTheWordYesIsYes(t *testing.T) {
	for typed, want := range map[string]bool{"yes\n": true, " yes \n": true, "yes": true, "y\n": false, "YES\n": false, "\n": false, "": false, "yes please\n": false} {
		streams, in, _, errOut := genericiooptions.NewTestIOStreams()
		in.WriteString(typed)
		got, err := typedYes(streams)(t.Context(), "Change it? ")
		if got != want || err != nil || errOut.String() != "Change it? " {
			t.Errorf("%q: %v, %v, asked %q", typed, got, err, errOut)
		}
	}
}

func TestPatchCommandLinesThatAreWrong(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	for line, want := range map[string]string{
		"patch":                                  "TARGET and HOST are missing",
		"patch pod/x a -o xml":                   `-o "xml" is not a format`,
		"patch pod/x a --bare":                   "--bare tries no change",
		"patch pod/x a --yes":                    "--yes says yes to a change",
		"patch pod/x a --apply":                  "stdin is no terminal",
		"patch pod/x a --dry-run=maybe":          `--dry-run "maybe"`,
		"patch pod/x a --apply --yes -o yaml":    "-o yaml only prints the patch",
		"patch pod/x a --rollout-timeout 0s":     "no time to follow a rollout",
		"patch pod/x a --dry-run server -o diff": "-o diff only prints the patch",
	} {
		code, out, errOut := main(t, line)
		if code != ExitUsage || !strings.Contains(errOut, want) || out != "" {
			t.Errorf("%s: code %d, stdout %q, stderr %q", line, code, out, errOut)
		}
	}
}

// TestPatchFormats writes a patch in each format, and what is said where there is none.
func TestPatchFormats(t *testing.T) {
	tr := newTrial(t)
	run := resolvedIn("payments-0", 10, probe.OK)
	for format, want := range map[string]string{
		formatYAML: "# Strategic merge patch of Deployment shop/payments: ndots:2\n", formatKustomize: "kind: Kustomization\n", formatDiff: "+         - name: ndots\n",
		formatJSON: `"variant": "ndots:2"`, formatText: "Take it back:\n  " + undoPayments,
	} {
		run.Patch = &tr.patch
		var out bytes.Buffer
		if err := (patchOptions{format: format, run: runOptions{output: output{getenv: func(string) string { return "" }}}}).write(&out, run); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v\n%s", format, err, &out)
		}
		run.Patch = nil
		run.Findings = []probe.Finding{{Class: "no-endpoints", Title: "The Service has no endpoints."}}
		out.Reset()
		err := (patchOptions{format: format, run: runOptions{output: output{getenv: func(string) string { return "" }}}}).write(&out, run)
		switch format {
		case formatText:
			if err != nil || !strings.Contains(out.String(), "No patch") || !strings.Contains(out.String(), "The Service has no endpoints.") {
				t.Errorf("text without a patch: %v\n%s", err, &out)
			}
		case formatJSON:
			if err != nil || !strings.Contains(out.String(), `"patch": null`) {
				t.Errorf("JSON without a patch: %v\n%s", err, &out)
			}
		default:
			if exitCode(err) != ExitFailed || out.Len() != 0 || !strings.Contains(err.Error(), "no-endpoints") {
				t.Errorf("%s without a patch: %v, wrote %q", format, err, &out)
			}
		}
	}
}

// TestAPatchOfAPodInTheFakeCluster goes the whole way from the command's options: the settings there gain nothing by a change.
func TestAPatchOfAPodInTheFakeCluster(t *testing.T) {
	k, client := fakeCluster(t)
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	f := patchFlags{image: "agent:1", keep: time.Minute, format: formatText, dryRun: dryRunNone, rollout: time.Minute, apply: true, yes: true}
	f.ask.libc, f.ask.types = "auto", []string{"A", "AAAA"}
	o, err := f.complete(streams, []string{"deploy/payments", "api.stripe.com"})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.execute(t.Context(), streams, k); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(out.String(), "No patch") {
		t.Errorf("wrote\n%s", out)
	}
	for _, a := range client.Actions() {
		if a.GetVerb() == "patch" && a.GetResource().Resource != "pods" {
			t.Errorf("it patched %s", a.GetResource().Resource)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"text/template"
	"time"
)

// namespace holds everything that bench creates.
const namespace = "dnsprobe-bench"

// mark is the label by which a namespace is known to be ours, so that nobody else's is removed.
const mark = "app.kubernetes.io/managed-by=kubectl-dnsprobe-bench"

// How long commands may take: one measured command, and one that puts pods in place or takes them away.
const (
	commandWithin = time.Minute
	placeWithin   = 2 * time.Minute
)

// place is the namespace in which the measuring is done.
type place struct {
	podImage string
}

// occupy creates the namespace, after removing what a run that was killed has left of it.
func occupy(ctx context.Context, o options) (*place, error) {
	b := &place{podImage: o.podImage}
	if b.podImage == "" {
		image, err := kubectl(ctx, "", "-n", "shop", "get", "deployment", "payments", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
		if err != nil {
			return nil, fmt.Errorf("%w; on another cluster name an image of a glibc program with -pod-image", err)
		}
		b.podImage = image
	}
	found, err := kubectl(ctx, "", "get", "namespace", namespace, "--ignore-not-found", "--show-labels", "--no-headers")
	if err != nil {
		return nil, err
	}
	if found != "" && !strings.Contains(found, mark) {
		return nil, fmt.Errorf("there is a namespace %s that bench has not made: remove it", namespace)
	}
	if found != "" {
		if err := b.leave(ctx); err != nil {
			return nil, err
		}
	}
	label, value, _ := strings.Cut(mark, "=")
	manifest := fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s, labels: {%s: %s}}\n", namespace, label, value)
	if _, err := kubectl(ctx, manifest, "create", "-f", "-"); err != nil {
		// It may have been created all the same.
		return nil, errors.Join(err, b.leave(ctx))
	}
	return b, nil
}

// leave removes the namespace and waits until it is gone. It outlives ctx and has a deadline of its own, since it also follows an
// interruption.
func (b *place) leave(ctx context.Context) error {
	_, err := kubectl(context.WithoutCancel(ctx), "", "delete", "namespace", namespace, "--ignore-not-found", "--timeout="+placeWithin.String())
	return err
}

// podManifest is a pod like those of the glibc workload; it resolves and connects in a loop.
var podManifest = template.Must(template.New("pod").Parse(`{{range .Names}}---
apiVersion: v1
kind: Pod
metadata: {name: {{.}}, namespace: {{$.Namespace}}}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 1
  containers:
  - {name: app, image: "{{$.Image}}", imagePullPolicy: IfNotPresent, args: ["{{$.Host}}:443"]}
{{end}}`))

// fresh creates pods that nobody has looked at yet, and waits until they are ready.
func (b *place) fresh(ctx context.Context, host string, names ...string) error {
	var manifest bytes.Buffer
	err := podManifest.Execute(&manifest, map[string]any{"Names": names, "Namespace": namespace, "Image": b.podImage, "Host": host})
	if err != nil {
		return err
	}
	if _, err := kubectl(ctx, manifest.String(), "create", "-f", "-"); err != nil {
		return err
	}
	_, err = kubectl(ctx, "", "-n", namespace, "wait", "--for=condition=Ready", "pods", "--all", "--timeout="+placeWithin.String())
	return err
}

// clear removes all pods.
func (b *place) clear(ctx context.Context) error {
	_, err := kubectl(ctx, "", "-n", namespace, "delete", "pods", "--all", "--timeout="+placeWithin.String())
	return err
}

// kubectl runs a command that is not measured and returns its output.
func kubectl(ctx context.Context, stdin string, args ...string) (string, error) {
	return output(ctx, placeWithin+10*time.Second, stdin, args...)
}

// output runs kubectl for a time and returns what it writes to stdout.
func output(ctx context.Context, within time.Duration, stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	cmd := exec.CommandContext(ctx, "kubectl", args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return out.String(), fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

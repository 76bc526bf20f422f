package cli

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/version"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/cluster"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/ephemeral"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/session"
)

// The times that a way into a pod may take.
const (
	// startWithin is for pulling a small image from a slow registry; what the kubelet knows to be hopeless ends the wait sooner.
	startWithin = 2 * time.Minute
	// joinWithin is for an exec and the first words of the agent, and again for it to read the target's files.
	joinWithin = 15 * time.Second
)

// way is an open session in a pod.
type way struct {
	client *session.Client
	plan   ephemeral.Plan
	target probe.Target
	heard  *hearing
}

// enter joins the probe's container that is in the pod already, else puts one there and joins that. say takes what is being done
// to the pod, before it is done.
func (k kube) enter(ctx context.Context, s scene, r ephemeral.Request, say func(string)) (way, error) {
	// Asked only now that the pod is found, the user's name takes the connection that is open already, and is there before the
	// exec is.
	s, stop := k.introduce(ctx, s)
	defer stop()
	// A container that is there needs no permission but to exec, which the exec itself asks for. That is a round trip less on
	// the way of every run but the first.
	reused, w, err := k.rejoin(ctx, s, r, say)
	if err == nil && reused != "" {
		return w, nil
	}
	if err != nil {
		if _, failed := errors.AsType[*ephemeral.StartError](err); failed || ctx.Err() != nil {
			return w, err
		}
		// The container can have ended since the pod was read: its idle limit does not wait for us.
		if fresh, getErr := k.client.CoreV1().Pods(s.found.Pod.Namespace).Get(ctx, s.found.Pod.Name, metav1.GetOptions{}); getErr == nil {
			s.found.Pod = fresh
		}
	}
	plan, refusals := ephemeral.Judge(k.situation(ctx, s), r, ephemeral.RandomName())
	if len(refusals) > 0 {
		return w, refused(refusals[0])
	}
	if reused != "" && plan.Reuse == reused {
		// It is still there and nothing is in the way: what went wrong before is all there is to say.
		return w, err
	}
	return k.follow(ctx, s, plan, say)
}

// rejoin joins the probe's container that is in the pod already, and returns its name; an empty name when there is none.
func (k kube) rejoin(ctx context.Context, s scene, r ephemeral.Request, say func(string)) (string, way, error) {
	plan, refusals := ephemeral.Judge(ephemeral.Situation{Pod: s.found.Pod}, r, ephemeral.RandomName())
	if len(refusals) > 0 || plan.Reuse == "" {
		return "", way{}, nil
	}
	w, err := k.follow(ctx, s, plan, say)
	return plan.Reuse, w, err
}

// refused makes a refusal an error with its exit code.
func refused(r *ephemeral.Refusal) error {
	if r.Usage {
		return &exitError{code: ExitUsage, err: r, next: r.Next}
	}
	return r
}

// follow carries out a plan.
func (k kube) follow(ctx context.Context, s scene, plan ephemeral.Plan, say func(string)) (way, error) {
	pod := s.found.Pod
	for _, note := range plan.Notes {
		say(note)
	}
	say(plan.Describe(pod.Name))
	w := way{plan: plan, target: targetOf(s, plan), heard: &hearing{}}
	name := plan.Reuse
	if plan.Add != nil {
		name = plan.Add.Name
		var err error
		if pod, err = ephemeral.Add(ctx, k.client, pod, plan.Add); err != nil {
			return w, err
		}
	}
	if err := ephemeral.Wait(ctx, k.client, pod, name, startWithin, say); err != nil {
		return w, err
	}
	at := ephemeral.Place{Namespace: pod.Namespace, Pod: pod.Name, Container: name}
	// An interruption must not cut the connection before the goodbye: closing the client ends it.
	stream, err := k.exec(context.WithoutCancel(ctx), at, ephemeral.AttachCommand())
	if err != nil {
		return w, err
	}
	w.client, err = join(ctx, stream, s.user(), w.heard.add)
	return w, err
}

func join(ctx context.Context, stream io.ReadWriteCloser, user string, events func(probe.Event)) (*session.Client, error) {
	bounded, cancel := context.WithTimeout(ctx, joinWithin)
	defer cancel()
	client, err := session.Dial(bounded, stream, session.Options{
		Version: version.Version, Name: user, Events: events, NoHistory: true, ReadAtOnce: true,
	})
	if err == nil {
		return client, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, &cluster.ReadError{
		What: "talk to the probe's container", Err: err,
		Next: "run the command again; if it stays so, a proxy in between may not let exec through",
	}
}

// targetOf says where the run takes place. The owner is added when it is known.
func targetOf(s scene, plan ephemeral.Plan) probe.Target {
	pod := s.found.Pod
	t := probe.Target{
		Namespace: pod.Namespace, Pod: pod.Name, Container: plan.Container, Node: pod.Spec.NodeName,
		Via: "ephemeral", Chosen: s.found.Chosen,
	}
	if plan.Add != nil {
		t.Image = plan.Add.Image
	}
	for _, c := range pod.Spec.EphemeralContainers {
		if c.Name == plan.Reuse {
			t.Image = c.Image
		}
	}
	return t
}

// header opens the event stream.
func (w way) header() probe.Event {
	return probe.Event{Kind: probe.KindRun, Run: &probe.Header{
		Schema: probe.Schema,
		Tool:   probe.Tool{Version: version.Version, Agent: w.client.Hello().Version},
		Target: w.target,
	}}
}

// read has the agent read the target's settings. Files on a dead file system never answer.
func (w way) read(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, joinWithin)
	defer cancel()
	return w.client.Read(bounded)
}

// hearing keeps what the agent says of the target's settings, apart from the history of earlier runs.
type hearing struct {
	mu sync.Mutex
	// heard counts all events.
	heard int
	kept  []heardEvent
}

type heardEvent struct {
	n  int
	ev probe.Event
}

func (h *hearing) add(ev probe.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard++
	switch ev.Kind {
	case probe.KindSettings, probe.KindResolver, probe.KindProblem:
		h.kept = append(h.kept, heardEvent{h.heard, ev})
	}
}

// since returns what was kept after the first n events.
func (h *hearing) since(n int) []probe.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []probe.Event
	for _, e := range h.kept {
		if e.n > n {
			out = append(out, e.ev)
		}
	}
	return out
}

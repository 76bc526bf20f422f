package main

import "testing"

func TestNotReady(t *testing.T) {
	ready := []condition{{Type: "Ready", Status: "True"}}
	var waiting podObject
	waiting.Status.Phase = "Pending"
	waiting.Status.ContainerStatuses = append(waiting.Status.ContainerStatuses, struct {
		RestartCount int
		State        struct {
			Waiting *struct{ Reason, Message string }
		}
	}{})
	waiting.Status.ContainerStatuses[0].State.Waiting = &struct{ Reason, Message string }{"ErrImagePull", "refused"}
	var running, finished, leaving, young, once podObject
	running.Status.Phase, running.Status.Conditions = "Running", ready
	finished.Status.Phase = "Succeeded"
	leaving.Status.Phase, leaving.Metadata.DeletionTimestamp = "Running", "2026-01-01T00:00:00Z"
	young.Status.Phase = "Pending"
	once.Status.Phase, once.Status.Conditions, once.Spec.RestartPolicy = "Running", ready, "Never"
	for name, c := range map[string]struct {
		pod  podObject
		want string
	}{
		"running":  {running, ""},
		"finished": {finished, ""},
		"leaving":  {leaving, ""},
		"waiting":  {waiting, "ErrImagePull refused"},
		"once":     {once, "not finished yet, phase Running"},
		"young":    {young, "phase Pending, not ready: not reported yet"},
	} {
		if got := notReady(c.pod); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

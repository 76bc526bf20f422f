package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sampleEvery is short against a run, which takes tens of milliseconds in the pod.
const sampleEvery = 2 * time.Millisecond

// idleAfter is how long after a run the agent is looked at as idle: its memory goes back to the system in the background.
const idleAfter = 5 * time.Second

// memory reads what the agent's processes use, out of /proc of the node: bench must run there. In a run there are two, the hub and
// the attach of the plugin; they share the pages of the program, which are counted twice here.
func (b *place) memory(ctx context.Context, o options) ([]figure, error) {
	const pod = "memory"
	if err := b.fresh(ctx, o.host, pod); err != nil {
		return nil, err
	}
	if _, err := output(ctx, commandWithin, "", plugin(o, pod)...); err != nil {
		return nil, err
	}
	id, err := kubectl(ctx, "", "-n", namespace, "get", "pod", pod, "-o", "jsonpath={.status.ephemeralContainerStatuses[0].containerID}")
	if err != nil {
		return nil, err
	}
	_, id, _ = strings.Cut(id, "://")
	if id == "" {
		return nil, errors.New("the status of pod " + pod + " names no ephemeral container")
	}
	if err := pause(ctx, idleAfter); err != nil {
		return nil, err
	}
	idle, err := inContainer(id)
	if err != nil {
		return nil, err
	}
	if len(idle) == 0 {
		return nil, errors.New("no process of the agent in /proc of this machine: run bench on the pod's node")
	}
	peak, err := b.duringRun(ctx, o, pod, id)
	if err != nil {
		return nil, err
	}
	after, err := inContainer(id)
	if err != nil {
		return nil, err
	}
	now, top := total(idle), total(after)
	in := func(kib int64) float64 { return float64(kib) / 1024 }
	const how = "/proc/PID/status of the processes whose /proc/PID/cgroup names the container"
	return []figure{
		{Name: "agent's memory, idle", Value: in(now.rss), Unit: unitMiB, Goal: 12, How: fmt.Sprintf("VmRSS of the hub %s after a run; %s", idleAfter, how)},
		{Name: "agent's memory, in a run", Value: in(peak.rss), Unit: unitMiB, Goal: 20, How: fmt.Sprintf(
			"largest sum of VmRSS of up to %d processes, seen every %s (of it %.1f MiB not shared with the program's file)", peak.processes, sampleEvery, in(peak.anon))},
		{Name: "agent's memory, highest of the hub", Value: in(top.high), Unit: unitMiB, Goal: 20, How: "VmHWM of the hub after two full runs"},
	}, nil
}

// duringRun looks at a container while a full run goes on, and returns the most that its processes used together.
func (b *place) duringRun(ctx context.Context, o options, pod, id string) (usage, error) {
	ended := make(chan error, 1)
	go func() {
		_, err := output(ctx, commandWithin, "", plugin(o, pod)...)
		ended <- err
	}()
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	var peak usage
	for {
		select {
		case err := <-ended:
			if err == nil && peak.processes < 2 {
				err = errors.New("the run was not seen in the pod: only the hub was there")
			}
			return peak, err
		case <-tick.C:
			found, err := inContainer(id)
			if err != nil {
				return peak, errors.Join(err, <-ended)
			}
			sum := total(found)
			peak.rss, peak.anon = max(peak.rss, sum.rss), max(peak.anon, sum.anon)
			peak.processes = max(peak.processes, sum.processes)
		}
	}
}

// usage is what processes use, in KiB (proc_pid_status(5)).
type usage struct {
	// rss is VmRSS, anon is RssAnon, high is VmHWM.
	rss, anon, high int64
	processes       int
}

func total(all []usage) usage {
	var sum usage
	for _, u := range all {
		sum.rss += u.rss
		sum.anon += u.anon
		sum.high += u.high
		sum.processes++
	}
	return sum
}

// inContainer returns the agent's processes in a container. The runtime's own helper, which is in the control group for a moment
// while it starts a program there, is none of them.
func inContainer(id string) ([]usage, error) {
	groups, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return nil, err
	}
	var out []usage
	for _, path := range groups {
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), id) {
			continue // Processes end while one looks.
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		if err != nil {
			continue
		}
		if name, u := parseStatus(string(status)); name == "dnsprobe-agent" {
			out = append(out, u)
		}
	}
	return out, nil
}

// parseStatus reads the name of a process and its memory.
func parseStatus(text string) (name string, u usage) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimSpace(value)
		kib, _ := strconv.ParseInt(strings.TrimSuffix(value, " kB"), 10, 64) // Other lines are no numbers, and not used.
		switch key {
		case "Name":
			name = value
		case "VmRSS":
			u.rss = kib
		case "RssAnon":
			u.anon = kib
		case "VmHWM":
			u.high = kib
		}
	}
	return name, u
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

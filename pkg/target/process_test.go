package target

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChoose(t *testing.T) {
	const id = "4f1c0ffee4f1c0ffee4f1c0ffee4f1c0ffee4f1c0ffee4f1c0ffee4f1c0ffee0"
	agent := Process{PID: 40, Name: agentName, Cgroup: "0::/\n"}
	attach := Process{PID: 50, Name: agentName, Cgroup: "0::/\n"}
	pause := Process{PID: 1, Name: pauseName, Cgroup: "0::/../sandbox\n"}
	kthreadd := Process{PID: 2, Name: "kthreadd", Kernel: true}
	for name, c := range map[string]struct {
		list      []Process
		self      int
		container string
		// want are the pids in order of preference.
		want []int
		why  string
	}{
		"the target's namespace": {list: []Process{{PID: 1, Name: "java"}, agent}, self: 40, want: []int{1}, why: "pid 1 is the target container's"},
		"a starter":              {list: []Process{{PID: 1, Name: "tini"}, {PID: 7, PPID: 1, Name: "java"}, agent}, self: 40, want: []int{7, 1}, why: "and started pid 7 (java)"},
		"a starter's starter": {
			list: []Process{{PID: 1, Name: "dumb-init"}, {PID: 7, PPID: 1, Name: "sh"}, {PID: 8, PPID: 7, Name: "node"}, agent},
			self: 40, want: []int{8, 7, 1}, why: "and started pid 7 (sh) and started pid 8 (node)",
		},
		"a starter without children":         {list: []Process{{PID: 1, Name: "sh"}, agent}, self: 40, want: []int{1}},
		"the oldest child counts":            {list: []Process{{PID: 1, Name: "tini"}, {PID: 9, PPID: 1, Name: "b"}, {PID: 7, PPID: 1, Name: "a"}, agent}, self: 40, want: []int{7, 1}},
		"execs into the target do not count": {list: []Process{{PID: 1, Name: "sh"}, {PID: 30, PPID: 0, Name: "bash"}, agent}, self: 40, want: []int{1}},
		"our own children do not count":      {list: []Process{{PID: 1, Name: "sh"}, {PID: 45, PPID: 1, Name: agentName}, agent}, self: 40, want: []int{1}},
		"a shared namespace": {
			list: []Process{pause, {PID: 6, PPID: 0, Name: "nginx", Cgroup: "0::/../web\n"}, agent, attach}, self: 40, want: []int{6},
			why: "pid 6 is the first process that is not the probe's",
		},
		"a shared namespace, other programs of ours": {
			list: []Process{pause, {PID: 6, Name: "sh", Cgroup: "0::/\n"}, {PID: 8, Name: "nginx", Cgroup: "0::/../web\n"}, agent},
			self: 40, want: []int{8},
		},
		"by the container's id": {
			list: []Process{pause, {PID: 6, Name: "envoy", Cgroup: "0::/../mesh\n"}, {PID: 8, Name: "nginx", Cgroup: "0::/../cri-containerd-" + id + ".scope\n"}, agent},
			self: 40, container: id, want: []int{8}, why: "pid 8 is in container 4f1c0ffee4f1",
		},
		"an id that is not there": {list: []Process{pause, {PID: 6, Name: "envoy", Cgroup: "0::/../mesh\n"}, agent}, self: 40, container: id, want: []int{6}},
		"on the node by id":       {list: []Process{{PID: 1, Name: "systemd"}, kthreadd, {PID: 900, Name: "nginx", Cgroup: "0::/kubepods/" + id + "\n"}, agent}, self: 40, container: id, want: []int{900}},
		"on the node without id":  {list: []Process{{PID: 1, Name: "systemd"}, kthreadd, agent}, self: 40, why: "the pod shares the node's process namespace"},
		"alone":                   {list: []Process{{PID: 1, Name: agentName}}, self: 1, why: "a process namespace of its own"},
		"nobody else":             {list: []Process{pause, agent}, self: 40, why: "no process of the target can be seen"},
	} {
		t.Run(name, func(t *testing.T) {
			choices, err := choose(c.list, c.self, c.container)
			var got []int
			var why string
			for _, choice := range choices {
				got = append(got, choice.PID)
			}
			if err != nil {
				why = err.Error()
			} else {
				why = choices[0].Why
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("pids (-want +got):\n%s", diff)
			}
			if !strings.Contains(why, c.why) {
				t.Errorf("why: %q, want %q in it", why, c.why)
			}
		})
	}
}

func TestProcessesAreReadFromProc(t *testing.T) {
	w := newPodWorld(t, nil)
	w.add(t, Process{PID: 7, PPID: 1, Name: "a b)\x1b[31m", UID: 1001, Cgroup: "0::/x\n"}, "/x", "")
	tree(t, w.proc, map[string]string{"meminfo": "x", "self": "-> 42", "99/": "", "0/status": "Name:\tx\n"})
	got, err := processes(w.proc)
	if err != nil {
		t.Fatal(err)
	}
	want := []Process{
		{PID: 1, Name: "java", UID: 1000, Cgroup: "0::/../target\n"},
		{PID: 7, PPID: 1, Name: "a b)\x1b[31m", UID: 1001, Cgroup: "0::/x\n"},
		{PID: 42, Name: agentName, UID: 1000, Cgroup: "0::/\n"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := processes(filepath.Join(w.proc, "nothing")); err == nil {
		t.Error("a /proc that is not there is no error")
	}
}

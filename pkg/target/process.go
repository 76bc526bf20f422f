package target

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
)

// Process is what is known about a process from its folder in /proc.
type Process struct {
	PID, PPID int
	// Name is the kernel's short name of it, at most 15 bytes ("java"). It is whatever the process says it is.
	Name string
	// Cgroup is the text of /proc/PID/cgroup. It tells containers apart.
	Cgroup string
	// UID is the effective user.
	UID int
	// Kernel is set for threads of the kernel, which have no files of their own.
	Kernel bool
}

// mostProcesses bounds how many processes are looked at.
const mostProcesses = 4096

// processes lists the processes below proc, by pid.
func processes(proc string) ([]Process, error) {
	dir, err := os.Open(proc)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	pids = pids[:min(len(pids), mostProcesses)]
	var list []Process
	for _, pid := range pids {
		if p, ok := process(proc, pid); ok {
			list = append(list, p)
		}
	}
	return list, nil
}

// process reads one process; false when it has ended meanwhile.
func process(proc string, pid int) (Process, bool) {
	dir := path.Join(proc, strconv.Itoa(pid))
	status, err := readFile(path.Join(dir, "status"), 16<<10)
	if err != nil {
		return Process{}, false
	}
	p := Process{PID: pid, UID: -1}
	for line := range strings.Lines(status) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch key {
		case "Name":
			p.Name = value
		case "PPid":
			p.PPID, _ = strconv.Atoi(value) // 0 is what the kernel says of those without a parent here.
		case "Uid":
			if ids := strings.Fields(value); len(ids) > 1 {
				p.UID, _ = strconv.Atoi(ids[1]) // The kernel writes numbers.
			}
		case "Kthread":
			p.Kernel = value == "1"
		}
	}
	p.Kernel = p.Kernel || p.PPID == 2
	p.Cgroup, _ = readFile(path.Join(dir, "cgroup"), 16<<10) // Without it, containers cannot be told apart by it; see choose.
	return p, true
}

// readFile reads a file of /proc up to a bound.
func readFile(name string, limit int64) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return readAll(f, name, limit)
}

// Choice is a process whose resolver can be followed, and why it is this one.
type Choice struct {
	Process
	Why string
}

// starters are programs that only start the one that matters.
var starters = map[string]bool{
	"tini": true, "tini-static": true, "dumb-init": true, "docker-init": true, "catatonit": true, "su-exec": true, "gosu": true,
	"s6-svscan": true, "s6-supervise": true, "runsvdir": true, "runsv": true, "supervisord": true,
	"sh": true, "bash": true, "ash": true, "dash": true, "busybox": true,
}

// agentName is our own program as the kernel names it. pauseName is that of the sandbox.
const (
	agentName = "dnsprobe-agent"
	pauseName = "pause"
)

// choose picks the target's process out of those that can be seen, the best choice first; the others are for when it has
// ended by the time it is read. self is our own pid, container the id of the target's container, empty when it is not
// known. The error says why none can be picked.
func choose(list []Process, self int, container string) ([]Choice, error) {
	byPID := map[int]Process{}
	node := false
	for _, p := range list {
		byPID[p.PID] = p
		node = node || p.Kernel
	}
	ours := func(p Process) bool { return p.PID == self || p.Name == agentName }
	if container != "" {
		for _, p := range list {
			if strings.Contains(p.Cgroup, container) && !ours(p) {
				return started(p, list, ours, fmt.Sprintf("pid %d is in container %.12s", p.PID, container)), nil
			}
		}
	}
	switch first, seen := byPID[1]; {
	case self == 1:
		return nil, errors.New("the probe has a process namespace of its own and cannot see the target's processes: " +
			"add it with a target container")
	case node:
		return nil, errors.New("the pod shares the node's process namespace, and no process could be found by its container's id")
	case seen && first.Name != pauseName && !ours(first):
		return started(first, list, ours, "pid 1 is the target container's"), nil
	}
	// The pod shares one process namespace. Processes of our own container are in our cgroup.
	own := byPID[self].Cgroup
	for _, p := range list {
		if p.Name != pauseName && !ours(p) && (own == "" || p.Cgroup != own) {
			return started(p, list, ours, fmt.Sprintf("pid %d is the first process that is not the probe's", p.PID)), nil
		}
	}
	return nil, errors.New("no process of the target can be seen")
}

// started follows p to the program that it only starts. p itself stays the last choice.
func started(p Process, list []Process, ours func(Process) bool, why string) []Choice {
	choices := []Choice{{Process: p, Why: why}}
	for starters[p.Name] && len(choices) < 8 {
		children := slices.DeleteFunc(slices.Clone(list), func(c Process) bool { return c.PPID != p.PID || ours(c) || c.PID == p.PID })
		if len(children) == 0 {
			break
		}
		child := slices.MinFunc(children, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
		why = fmt.Sprintf("%s and started pid %d (%s)", why, child.PID, printable.Text(child.Name, 15))
		choices = slices.Insert(choices, 0, Choice{Process: child, Why: why})
		p = child
	}
	return choices
}

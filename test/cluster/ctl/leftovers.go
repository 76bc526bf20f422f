package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// clearTimeout bounds each step of clearing; a process in the kernel may need seconds to die.
const clearTimeout = 30 * time.Second

// kernelSettings are the machine-wide settings that a kubelet changes at its start.
var kernelSettings = []string{
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
	"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
}

// fixedPlaces are folders that the kubelet and the CNI library use whatever their configuration
// says; each pattern matches what is ours there, and an emptied folder goes too.
func fixedPlaces(l layout) []string {
	return []string{
		"/var/lib/cni/results/" + cniName + "-*",
		"/var/lib/kubelet/device-plugins/kubelet.sock",
		"/var/lib/kubelet/device-plugins/DEPRECATION",
	}
}

var sharedFolders = []string{
	"/var/lib/cni/results", "/var/lib/cni", "/var/lib/kubelet/device-plugins", "/var/lib/kubelet",
	"/var/log/containers", "/run/netns",
}

// mountsBelow lists the mounts at or below the folders, the last mounted first.
func mountsBelow(mounts []mountpoint, folders ...string) []string {
	var found []string
	for i := len(mounts) - 1; i >= 0; i-- {
		for _, folder := range folders {
			if mounts[i].path == folder || strings.HasPrefix(mounts[i].path, folder+"/") {
				found = append(found, mounts[i].path)
				break
			}
		}
	}
	return found
}

// clusterProcesses lists the processes in our control groups: the daemons, the shims and everything in pods.
func clusterProcesses() ([]int, error) {
	return processesWhere(func(pid string) bool {
		text, err := os.ReadFile("/proc/" + pid + "/cgroup")
		return err == nil && inOurCgroup(string(text))
	})
}

// guests lists processes of others that are inside the cluster's network namespace, without this
// program and those it was started from.
func guests(l layout) ([]int, error) {
	var netns, theirs unix.Stat_t
	if err := unix.Stat(l.Netns, &netns); err != nil {
		return nil, nil
	}
	kin := map[string]bool{}
	for pid := os.Getpid(); pid > 1; {
		kin[strconv.Itoa(pid)] = true
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			break
		}
		pid = parentOf(string(text))
	}
	return processesWhere(func(pid string) bool {
		return !kin[pid] && unix.Stat("/proc/"+pid+"/ns/net", &theirs) == nil &&
			theirs.Ino == netns.Ino && theirs.Dev == netns.Dev
	})
}

// parentOf is the parent's pid from the text of /proc/PID/stat; the program's name before it may
// hold anything, so the fields count from the last parenthesis.
func parentOf(stat string) int {
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) < 2 {
		return 0
	}
	pid, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return pid
}

func processesWhere(is func(pid string) bool) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && is(entry.Name()) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func commandLine(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return "ended"
	}
	line := strings.ReplaceAll(strings.TrimRight(string(text), "\x00"), "\x00", " ")
	if len(line) > 80 {
		line = line[:80] + "..."
	}
	return line
}

// leftovers describes all that is there of a cluster, one line a thing; empty after a whole `down`.
func leftovers(l layout) ([]string, error) {
	var found []string
	pids, err := clusterProcesses()
	if err != nil {
		return nil, err
	}
	for _, pid := range pids {
		found = append(found, fmt.Sprintf("process %d: %s", pid, commandLine(pid)))
	}
	inside, err := guests(l)
	if err != nil {
		return nil, err
	}
	for _, pid := range inside {
		if !contains(pids, pid) {
			found = append(found, fmt.Sprintf("process %d is still inside the network namespace: %s", pid, commandLine(pid)))
		}
	}
	mounts, err := readMounts()
	if err != nil {
		return nil, err
	}
	for _, path := range mountsBelow(mounts, l.State, l.Run, l.Netns) {
		found = append(found, "mount "+path)
	}
	for _, path := range cgroupFolders(mounts) {
		found = append(found, "control group "+path)
	}
	for _, path := range append([]string{l.Netns, l.State, l.Run}, fixedFiles(l)...) {
		if _, err := os.Lstat(path); err == nil {
			found = append(found, "file "+path)
		}
	}
	return append(found, linksLeft()...), nil
}

// linksLeft lists network links of ours outside the namespace, where none should ever be.
func linksLeft() []string {
	var found []string
	for _, name := range []string{bridgeName, podBridge} {
		if _, err := os.Lstat("/sys/class/net/" + name); err == nil {
			found = append(found, "network link "+name)
		}
	}
	return found
}

// fixedFiles are our files in folders that are not ours.
func fixedFiles(l layout) []string {
	var found []string
	for _, pattern := range fixedPlaces(l) {
		// The only error is a malformed pattern, and these are constants.
		matches, _ := filepath.Glob(pattern)
		found = append(found, matches...)
	}
	logs, _ := filepath.Glob("/var/log/containers/*")
	for _, link := range logs {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, l.State+"/") {
			found = append(found, link)
		}
	}
	sort.Strings(found)
	return found
}

func contains(pids []int, pid int) bool {
	for _, p := range pids {
		if p == pid {
			return true
		}
	}
	return false
}

// clearAll removes everything of a cluster, running or killed. It does not report what it could not
// remove: leftovers does, by looking.
func clearAll(ctx context.Context, l layout) error {
	if err := killAll(ctx, l); err != nil {
		return err
	}
	mounts, err := readMounts()
	if err != nil {
		return err
	}
	for _, path := range mountsBelow(mounts, l.State, l.Run, l.Netns) {
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("unmount %s: %w", path, err)
		}
	}
	restoreKernel(l)
	if err := removeCgroups(ctx, l, mounts); err != nil {
		return err
	}
	for _, path := range append(fixedFiles(l), l.Netns, l.Run, l.State) {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove %s: %w", path, err)
		}
	}
	for _, folder := range sharedFolders {
		// Removed only when empty: others may use it.
		_ = os.Remove(folder)
	}
	return nil
}

// killAll ends every process of the cluster. Nothing is asked to end by itself: there is no state to
// keep, and a kubelet that is asked would only write to an API server that is going too.
func killAll(ctx context.Context, l layout) error {
	return waitFor(ctx, l, "the cluster's processes to end", clearTimeout, nil, func(context.Context) error {
		pids, err := clusterProcesses()
		if err != nil {
			return err
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("kill process %d (%s): %w", pid, commandLine(pid), err)
			}
		}
		if len(pids) > 0 {
			return fmt.Errorf("%d are left, the first is %d (%s)", len(pids), pids[0], commandLine(pids[0]))
		}
		return nil
	})
}

// removeCgroups removes our groups; the kernel empties them a moment after their processes have ended.
func removeCgroups(ctx context.Context, l layout, mounts []mountpoint) error {
	return waitFor(ctx, l, "the control groups to be empty", clearTimeout, nil, func(context.Context) error {
		var last error
		for _, folder := range cgroupFolders(mounts) {
			if err := os.Remove(folder); err != nil && !errors.Is(err, os.ErrNotExist) {
				last = err
			}
		}
		return last
	})
}

// saveKernel writes down the machine's settings before the first kubelet changes them.
func saveKernel(l layout) error {
	for _, name := range kernelSettings {
		value, err := os.ReadFile("/proc/sys/" + name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read the kernel setting %s: %w", name, err)
		}
		path := l.state("kernel", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("keep the kernel setting %s: %w", name, err)
		}
		if err := os.WriteFile(path, value, 0o644); err != nil {
			return fmt.Errorf("keep the kernel setting %s: %w", name, err)
		}
	}
	return nil
}

// restoreKernel puts the settings back; a machine that forbids it had forbidden the change as well.
func restoreKernel(l layout) {
	for _, name := range kernelSettings {
		if value, err := os.ReadFile(l.state("kernel", name)); err == nil {
			_ = os.WriteFile("/proc/sys/"+name, value, 0o644)
		}
	}
}

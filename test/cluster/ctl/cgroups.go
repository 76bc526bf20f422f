package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mountpoint is one line of /proc/self/mountinfo: proc(5).
type mountpoint struct {
	path    string
	kind    string // file system type
	options string // of the super block; for cgroup v1 the controllers
}

// parseMountinfo reads what it understands and leaves out other lines.
func parseMountinfo(text string) []mountpoint {
	var mounts []mountpoint
	for line := range strings.Lines(text) {
		before, after, found := strings.Cut(strings.TrimSpace(line), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !found || len(left) < 5 || len(right) < 3 {
			continue
		}
		mounts = append(mounts, mountpoint{path: unescapeMount(left[4]), kind: right[0], options: right[2]})
	}
	return mounts
}

// unescapeMount undoes the octal escapes of mountinfo.
func unescapeMount(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

func readMounts() ([]mountpoint, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("list the mounts: %w", err)
	}
	return parseMountinfo(string(text)), nil
}

// hierarchies are the folders in which control groups live, of version 1 and 2.
func hierarchies(mounts []mountpoint) []mountpoint {
	var found []mountpoint
	for _, m := range mounts {
		if m.kind == "cgroup" || m.kind == "cgroup2" {
			found = append(found, m)
		}
	}
	return found
}

// makeCgroups makes the kubelet's root group in every hierarchy, and returns the files to which a
// daemon writes its pid to be counted as ours. Only hierarchies that limit nothing take the daemons:
// where they were started from may account for their memory and time.
func makeCgroups(mounts []mountpoint) (joins []string, err error) {
	all := hierarchies(mounts)
	pure := !slices.ContainsFunc(all, func(h mountpoint) bool { return h.kind == "cgroup" })
	for _, h := range all {
		group := filepath.Join(h.path, cgroupName)
		if err := os.MkdirAll(group, 0o755); err != nil {
			return nil, fmt.Errorf("make the control group %s: %w", group, err)
		}
		if hasController(h, "cpuset") {
			if err := inheritCpuset(h.path, group); err != nil {
				return nil, err
			}
		}
		if pure {
			if err := passControllers(h.path, group); err != nil {
				return nil, err
			}
		}
		if h.kind == "cgroup2" || hasController(h, "freezer") {
			daemons := filepath.Join(group, "daemons")
			if err := os.MkdirAll(daemons, 0o755); err != nil {
				return nil, fmt.Errorf("make the control group %s: %w", daemons, err)
			}
			joins = append(joins, filepath.Join(daemons, "cgroup.procs"))
		}
	}
	if len(joins) == 0 {
		return nil, errors.New("no control groups are mounted on this machine: neither cgroup2 nor the freezer of version 1; the kubelet needs them")
	}
	return joins, nil
}

func hasController(h mountpoint, name string) bool {
	for option := range strings.SplitSeq(h.options, ",") {
		if h.kind == "cgroup" && option == name {
			return true
		}
	}
	return false
}

// inheritCpuset fills what version 1 leaves empty in a new group, where no process could join it.
func inheritCpuset(parent, group string) error {
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(parent, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(group, name), value, 0o644)
		}
		if err != nil {
			return fmt.Errorf("copy %s to %s: %w", name, group, err)
		}
	}
	return nil
}

// passControllers hands all controllers that version 2 has here down to the children of our group, as
// the kubelet asks for them there. Beside version 1 it uses those instead.
func passControllers(parent, group string) error {
	for _, folder := range []string{parent, group} {
		text, err := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
		if err != nil {
			return fmt.Errorf("list the controllers of %s: %w", folder, err)
		}
		for controller := range strings.FieldsSeq(string(text)) {
			err := os.WriteFile(filepath.Join(folder, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
			if err != nil {
				return fmt.Errorf("hand the controller %s down from %s: %w", controller, folder, err)
			}
		}
	}
	return nil
}

// cgroupFolders lists our control groups, the deepest first, as they have to be removed.
func cgroupFolders(mounts []mountpoint) []string {
	var folders []string
	for _, h := range hierarchies(mounts) {
		var below []string
		// A group that vanishes under the walk is what we want; it is not listed then.
		_ = filepath.WalkDir(filepath.Join(h.path, cgroupName), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				below = append(below, path)
			}
			return nil
		})
		for i := len(below) - 1; i >= 0; i-- {
			folders = append(folders, below[i])
		}
	}
	return folders
}

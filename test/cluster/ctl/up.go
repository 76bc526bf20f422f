package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

//go:embed manifests
var manifestFiles embed.FS

// Deadlines of the boot: some ten times what an idle machine with two cores takes.
const (
	daemonTimeout = time.Minute
	nodeTimeout   = 90 * time.Second
	podsTimeout   = 3 * time.Minute
	lockTimeout   = buildTimeout // another `up` may be building
)

// contentPods is how many pods the manifests make: `up` waits for that many to be ready.
const contentPods = 12

// up brings the cluster to life, or finds it alive, and prints how to use it.
func up(ctx context.Context, l layout, out io.Writer) error {
	started := time.Now()
	if os.Geteuid() != 0 {
		return errors.New("start the cluster: not root; it needs namespaces, mounts and control groups, so run it with sudo")
	}
	unlock, err := lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := installMissing(ctx); err != nil {
		return err
	}
	all, err := resolveAll(l)
	if err != nil {
		return err
	}
	folder, err := imagesFolder(ctx, l, all)
	if err != nil {
		return err
	}
	wanted, err := stamp(newSettings(l, "", ""), all, folder)
	if err != nil {
		return err
	}
	switch reason := healthy(ctx, l, wanted); {
	case reason == nil:
		if err := refresh(ctx, l); err != nil {
			return err
		}
		say("the cluster is up and healthy (looked for %v)", time.Since(started).Round(10*time.Millisecond))
	default:
		if _, err := os.Stat(l.State); err == nil {
			say("booting anew: %v", reason)
		}
		if err := rebuildAndBoot(ctx, l, all, wanted); err != nil {
			return err
		}
	}
	printUse(out, l)
	return nil
}

func rebuildAndBoot(ctx context.Context, l layout, all []built, wanted string) error {
	// Built first: an old cluster may go on for the minutes that this takes.
	if err := buildAll(ctx, l, all); err != nil {
		return err
	}
	archive, err := makeImages(ctx, l, all)
	if err != nil {
		return err
	}
	booting := time.Now()
	if err := clearAll(ctx, l); err != nil {
		return fmt.Errorf("clear what an earlier cluster has left: %w", err)
	}
	if err := boot(ctx, l, all, archive); err != nil {
		return fmt.Errorf("%w\nlook at `ctl logs NAME`; `ctl down` removes what was started", err)
	}
	if err := os.WriteFile(l.state("stamp"), []byte(wanted), 0o644); err != nil {
		return fmt.Errorf("write down what was booted: %w", err)
	}
	say("booted in %v", time.Since(booting).Round(10*time.Millisecond))
	return nil
}

func printUse(out io.Writer, l layout) {
	fmt.Fprintf(out, "export KUBECONFIG=%s\n", l.kubeconfig("admin"))
	fmt.Fprintf(out, "export PATH=%s:$PATH\n", l.state("tools"))
	fmt.Fprintf(out, "# the cluster is only reached from inside its network namespace:\n")
	fmt.Fprintf(out, "#   nsenter --net=%s kubectl get pods -A\n", l.Netns)
	fmt.Fprintf(out, "#   nsenter --net=%s bash\n", l.Netns)
}

// lockPath is beside the cluster's folders, as those come and go while it is held.
const lockPath = "/run/dnsprobe-cluster.lock"

// lock keeps two of us from changing the cluster at the same time. A `down` removes the file while
// it holds it, so a lock on a file that is no longer at the path counts for nothing.
func lock(ctx context.Context) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		file, err := os.OpenFile(lockPath, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open the lock %s: %w", lockPath, err)
		}
		if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && samePath(file) {
			return func() { file.Close() }, nil
		}
		file.Close()
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: another command holds it: %w", lockPath, ctx.Err())
		case <-tick.C:
		}
	}
}

func samePath(file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(file.Name())
	return err == nil && os.SameFile(opened, named)
}

// healthy reports whether a whole cluster of this tree runs: every daemon, the API and the node.
func healthy(ctx context.Context, l layout, wanted string) error {
	if present, err := os.ReadFile(l.state("stamp")); err != nil || string(present) != wanted {
		return errors.New("the running cluster, if any, is of another tree or was not booted to the end")
	}
	for _, name := range daemonNames {
		if pidOf(l, name) == 0 {
			return fmt.Errorf("%s does not run", name)
		}
	}
	a, err := newAPI(l)
	if err != nil {
		return err
	}
	if err := a.get(ctx, "/readyz", nil); err != nil {
		return err
	}
	return a.nodeReady(ctx)
}

func boot(ctx context.Context, l layout, all []built, archive string) error {
	started := time.Now()
	phase := func(what string) {
		say("%5.1f s  %s", time.Since(started).Seconds(), what)
	}
	joins, s, err := prepare(ctx, l, all)
	if err != nil {
		return err
	}
	byName := daemons(l)
	run := func(names ...string) error {
		for _, name := range names {
			if err := byName[name].start(l, joins); err != nil {
				return err
			}
		}
		return nil
	}
	if err := run("etcd", "containerd", "outside", "kube-apiserver"); err != nil {
		return err
	}
	imported := make(chan error, 1)
	go func() { imported <- importWhenReady(ctx, l, archive) }()
	a, err := newAPI(l)
	if err != nil {
		return err
	}
	err = waitFor(ctx, l, "the API server", daemonTimeout, []string{"etcd", "kube-apiserver"}, func(ctx context.Context) error {
		return a.get(ctx, "/readyz", nil)
	})
	// Both ways on: the import uses the state folder, which may be cleared after an error.
	if err := errors.Join(err, <-imported); err != nil {
		return err
	}
	phase("the API server answers, images are imported")
	if err := run("kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy"); err != nil {
		return err
	}
	var work sync.WaitGroup
	var applied error
	work.Go(func() { applied = apply(ctx, l, a, s) })
	err = waitFor(ctx, l, "the node", nodeTimeout, daemonNames, a.nodeReady)
	work.Wait()
	if err := errors.Join(err, applied); err != nil {
		return err
	}
	phase("the node is ready, the contents are applied")
	err = waitFor(ctx, l, "the pods", podsTimeout, daemonNames, func(ctx context.Context) error {
		return a.podsReady(ctx, contentPods)
	})
	if err == nil {
		phase("all pods are ready")
	}
	return err
}

// prepare makes all that has to be there before the first daemon.
func prepare(ctx context.Context, l layout, all []built) (joins []string, s settings, err error) {
	for _, folder := range []string{l.Run, l.state("logs"), l.state("pids"), l.state("pod-logs"), l.state("volume-plugins"), l.state("tools")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, s, fmt.Errorf("make the cluster's folders: %w", err)
		}
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		return nil, s, fmt.Errorf("find runc: %w", err)
	}
	s = newSettings(l, runc, snapshotter(l))
	if err := linkPrograms(all, l.bin()); err != nil {
		return nil, s, err
	}
	// A folder of its own for people's PATH: the daemons' folder has programs named bridge and server.
	if err := os.Symlink(l.bin("kubectl"), l.state("tools", "kubectl")); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, s, fmt.Errorf("link kubectl: %w", err)
	}
	if err := saveKernel(l); err != nil {
		return nil, s, err
	}
	if err := writeCertificates(l); err != nil {
		return nil, s, err
	}
	if err := writeConfig(s); err != nil {
		return nil, s, err
	}
	if err := makeNetwork(ctx, l); err != nil {
		return nil, s, err
	}
	mounts, err := readMounts()
	if err != nil {
		return nil, s, err
	}
	joins, err = makeCgroups(mounts)
	return joins, s, err
}

// snapshotter is overlayfs where the state folder's file system can carry it, else plain copies.
func snapshotter(l layout) string {
	trial, err := os.MkdirTemp(l.State, "overlay-")
	if err != nil {
		return "native"
	}
	defer os.RemoveAll(trial)
	dirs := map[string]string{}
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		dirs[name] = filepath.Join(trial, name)
		if err := os.Mkdir(dirs[name], 0o755); err != nil {
			return "native"
		}
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", dirs["lower"], dirs["upper"], dirs["work"])
	if err := unix.Mount("overlay", dirs["merged"], "overlay", 0, options); err != nil {
		return "native"
	}
	// The trial's folder is removed next; a mount that stayed would show as a leftover.
	_ = unix.Unmount(dirs["merged"], unix.MNT_DETACH)
	return "overlayfs"
}

func importWhenReady(ctx context.Context, l layout, archive string) error {
	err := waitFor(ctx, l, "containerd", daemonTimeout, []string{"containerd"}, func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", l.containerdSocket())
		if err != nil {
			return err
		}
		return conn.Close()
	})
	if err != nil {
		return err
	}
	return importImages(ctx, l, archive)
}

// manifests in the order in which they are applied.
var manifests = []string{"manifests/coredns.yaml", "manifests/workloads.yaml", "manifests/pods.yaml"}

// contentsText is everything that is applied to the cluster.
func contentsText(s settings) (string, error) {
	text := ""
	for _, name := range manifests {
		part, err := renderFile(manifestFiles, name, s)
		if err != nil {
			return "", err
		}
		text += "---\n" + part
	}
	return text, nil
}

// apply sends the contents with kubectl; the same text a second time changes nothing.
func apply(ctx context.Context, l layout, a api, s settings) error {
	for _, name := range manifests {
		if name == "manifests/pods.yaml" {
			err := waitFor(ctx, l, "the service accounts", nodeTimeout, daemonNames, func(ctx context.Context) error {
				return a.get(ctx, "/api/v1/namespaces/shop/serviceaccounts/default", nil)
			})
			if err != nil {
				return err
			}
		}
		text, err := renderFile(manifestFiles, name, s)
		if err != nil {
			return err
		}
		path := l.state(filepath.Base(name))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("write the contents: %w", err)
		}
		err = runCommand(ctx, "nsenter", "--net="+l.Netns, l.bin("kubectl"), "--kubeconfig="+l.kubeconfig("admin"),
			"apply", "--server-side", "--force-conflicts", "-f", path)
		if err != nil {
			return err
		}
	}
	text, err := contentsText(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.state("contents.yaml"), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write down what was applied: %w", err)
	}
	return nil
}

// refresh brings a running cluster to the contents of this tree, and waits for its pods. It only
// asks the API server to change something when the tree has changed.
func refresh(ctx context.Context, l layout) error {
	s := newSettings(l, "", "")
	text, err := contentsText(s)
	if err != nil {
		return err
	}
	a, err := newAPI(l)
	if err != nil {
		return err
	}
	if present, err := os.ReadFile(l.state("contents.yaml")); err != nil || string(present) != text {
		if err := apply(ctx, l, a, s); err != nil {
			return err
		}
	}
	return waitFor(ctx, l, "the pods", podsTimeout, daemonNames, func(ctx context.Context) error {
		return a.podsReady(ctx, contentPods)
	})
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// daemon is one long-running program of the cluster.
type daemon struct {
	name string
	args []string
}

// daemons are in the order of their start.
func daemons(l layout) map[string]daemon {
	all := []daemon{
		{"etcd", []string{
			"--data-dir=" + l.state("etcd"), "--unsafe-no-fsync", "--log-level=error",
			"--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379",
			"--listen-peer-urls=http://127.0.0.1:2380", "--initial-advertise-peer-urls=http://127.0.0.1:2380",
			"--initial-cluster=default=http://127.0.0.1:2380",
		}},
		{"containerd", []string{"--config=" + l.state("containerd.toml")}},
		{"outside", []string{"-dns=" + outsideAddress + ":53", "-control=" + outsideAddress + ":" + controlPort}},
		{"kube-apiserver", []string{
			"--etcd-servers=http://127.0.0.1:2379", "--bind-address=" + nodeAddress, "--advertise-address=" + nodeAddress,
			"--secure-port=" + apiPort, "--service-cluster-ip-range=" + serviceRange,
			"--tls-cert-file=" + l.state("apiserver.crt"), "--tls-private-key-file=" + l.state("apiserver.key"),
			"--client-ca-file=" + l.state("ca.crt"), "--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
			"--kubelet-client-certificate=" + l.state("apiserver.crt"), "--kubelet-client-key=" + l.state("apiserver.key"),
			"--kubelet-certificate-authority=" + l.state("ca.crt"), "--kubelet-preferred-address-types=InternalIP",
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + l.state("service-accounts.crt"),
			"--service-account-signing-key-file=" + l.state("service-accounts.key"),
			"--audit-policy-file=" + l.state("audit.yaml"), "--audit-log-path=" + l.state("logs", "audit.log"),
			"--audit-log-maxsize=20", "--audit-log-maxbackup=1", "--profiling=false",
		}},
		{"kube-controller-manager", []string{
			"--kubeconfig=" + l.kubeconfig("kube-controller-manager"), "--leader-elect=false", "--bind-address=127.0.0.1",
			// Each controller has a role of its own; the manager's own has next to nothing.
			"--use-service-account-credentials=true",
			// The default of 20 requests a second makes the start of all controllers take five.
			"--kube-api-qps=200", "--kube-api-burst=400",
			"--service-account-private-key-file=" + l.state("service-accounts.key"), "--root-ca-file=" + l.state("ca.crt"),
			// A busy machine may delay heartbeats; that must not evict the pods.
			"--node-monitor-grace-period=200s", "--profiling=false",
		}},
		{"kube-scheduler", []string{
			"--kubeconfig=" + l.kubeconfig("kube-scheduler"), "--leader-elect=false", "--bind-address=127.0.0.1", "--profiling=false",
		}},
		{"kubelet", []string{
			"--kubeconfig=" + l.kubeconfig(nodeName), "--config=" + l.state("kubelet.yaml"), "--root-dir=" + l.state("kubelet"),
			"--cert-dir=" + l.state("kubelet-certificates"), "--hostname-override=" + nodeName, "--node-ip=" + nodeAddress,
		}},
		{"kube-proxy", []string{"--config=" + l.state("kube-proxy.yaml")}},
	}
	byName := map[string]daemon{}
	for _, d := range all {
		byName[d.name] = d
	}
	return byName
}

// daemonNames in the order of their start.
var daemonNames = []string{"etcd", "containerd", "outside", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy"}

// launcher joins the control groups ($0 lists them), enters the network namespace and becomes the
// program: the pid stays the same from the shell to the daemon. Not `ip netns exec`, which mounts a
// new /sys in which the kubelet finds no control groups.
const launcher = `for group in $0; do echo $$ >"$group" || exit 1; done; netns=$1; shift; exec nsenter --net="$netns" "$@"`

// start runs the daemon in a session of its own; it goes on when this program ends.
func (d daemon) start(l layout, joins []string) error {
	log, err := os.OpenFile(l.state("logs", d.name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", d.name, err)
	}
	defer log.Close()
	args := append([]string{"-c", launcher, strings.Join(joins, " "), l.Netns, l.bin(d.name)}, d.args...)
	command := exec.Command("/bin/sh", args...)
	command.Dir = l.State
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	command.Env = append(os.Environ(), "PATH="+l.bin()+":/usr/sbin:/usr/bin:/sbin:/bin", "GOMAXPROCS=2")
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", d.name, err)
	}
	pid := command.Process.Pid
	// Collected here, so that a daemon that dies while we wait for it is no zombie and is seen as dead.
	go func() { _ = command.Wait() }()
	if err := os.WriteFile(l.state("pids", d.name), []byte(strconv.Itoa(pid)), 0o644); err != nil {
		return fmt.Errorf("write down the pid of %s: %w", d.name, err)
	}
	return nil
}

// pidOf is the pid of a running daemon, or 0. A pid that now belongs to another program does not count.
func pidOf(l layout, name string) int {
	text, err := os.ReadFile(l.state("pids", name))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil || !inOurCgroup(string(groups)) {
		return 0
	}
	return pid
}

// inOurCgroup reports whether the text of a /proc/PID/cgroup names one of our groups.
func inOurCgroup(text string) bool {
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) == 3 && (parts[2] == "/"+cgroupName || strings.HasPrefix(parts[2], "/"+cgroupName+"/")) {
			return true
		}
	}
	return false
}

// pollInterval is how often a state that cannot be waited for in another way is looked at.
const pollInterval = 50 * time.Millisecond

// waitFor looks until check returns nil. After the deadline the error has the last
// reason; when one of the daemons watched has died, the end of that daemon's log.
func waitFor(ctx context.Context, l layout, what string, limit time.Duration, watched []string, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		// A check that the deadline cut short says nothing about what is missing.
		if last == nil || ctx.Err() == nil {
			last = err
		}
		for _, name := range watched {
			// The shell has joined the group a moment after the start; an exit is final in any case.
			if pidOf(l, name) == 0 && !stillStarting(l, name) {
				return fmt.Errorf("wait for %s: %s has ended\n%s", what, name, logEnd(l, name))
			}
		}
		select {
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("wait for %s: %w", what, ctx.Err())
			}
			return fmt.Errorf("wait for %s: not within %v: %w", what, limit, last)
		case <-tick.C:
		}
	}
}

func stillStarting(l layout, name string) bool {
	text, err := os.ReadFile(l.state("pids", name))
	if err != nil {
		return false
	}
	line, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/cmdline")
	return err == nil && bytes.HasPrefix(line, []byte("/bin/sh\x00"))
}

// logEnd is the last lines of a daemon's log.
func logEnd(l layout, name string) string {
	text, err := os.ReadFile(l.state("logs", name+".log"))
	if err != nil {
		return fmt.Sprintf("(no log of %s: %v)", name, err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) > 15 {
		lines = lines[len(lines)-15:]
	}
	return fmt.Sprintf("--- %s ---\n%s", l.state("logs", name+".log"), strings.Join(lines, "\n"))
}

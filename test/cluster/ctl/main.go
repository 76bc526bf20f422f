// Command ctl boots and removes a real Kubernetes of one node on this machine, in a network
// namespace of its own. See the README beside it.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

const usage = `usage: ctl COMMAND

  up                    boot the cluster, or check that it is healthy; prints how to use it
  down                  remove everything of it; lists what is left and fails if anything is
  status                daemons, node and pods
  logs NAME             the log of a daemon (etcd, kube-apiserver, kubelet, ..., audit)
  load-image FILE.tar   import an OCI or docker archive for the kubelet to find
  outside [KEY=VALUE]   show or change the outside DNS server: delay=50ms loss=0.1 drop=AAAA
                        rcode=SERVFAIL names=api.stripe.com reset=1
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "cluster: %v\n", err)
		os.Exit(1)
	}
}

// say tells a person what goes on; standard output is only for what a shell may read.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "cluster: "+format+"\n", args...)
}

func command(ctx context.Context, args []string, out io.Writer) error {
	l, err := newLayout()
	if err != nil {
		return err
	}
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch {
	case name == "up" && len(args) == 1:
		return up(ctx, l, out)
	case name == "down" && len(args) == 1:
		return down(ctx, l)
	case name == "status" && len(args) == 1:
		return status(ctx, l, out)
	case name == "logs" && len(args) == 2:
		return logs(l, args[1], out)
	case name == "load-image" && len(args) == 2:
		return importImages(ctx, l, args[1])
	case name == "outside":
		return outside(ctx, l, args[1:], out)
	}
	fmt.Fprint(os.Stderr, usage)
	os.Exit(2)
	return nil
}

func down(ctx context.Context, l layout) error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("remove the cluster: not root; run it with sudo")
	}
	unlock, err := lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	inside, err := guests(l)
	if err != nil {
		return err
	}
	cleared := clearAll(ctx, l)
	left, err := leftovers(l)
	if err != nil {
		return err
	}
	for _, pid := range inside {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
			left = append(left, fmt.Sprintf("process %d keeps the network namespace: %s", pid, commandLine(pid)))
		}
	}
	if err := os.Remove(lockPath); err != nil {
		return fmt.Errorf("remove the lock: %w", err)
	}
	if len(left) > 0 || cleared != nil {
		for _, line := range left {
			say("left: %s", line)
		}
		if cleared != nil {
			return cleared
		}
		return fmt.Errorf("%d things of the cluster are left, see above", len(left))
	}
	say("nothing is left: no process, mount, network namespace, link, control group or file")
	return nil
}

func status(ctx context.Context, l layout, out io.Writer) error {
	if _, err := os.Stat(l.State); err != nil {
		left, err := leftovers(l)
		if err != nil {
			return err
		}
		return fmt.Errorf("there is no cluster (%d leftovers); boot one with `ctl up`", len(left))
	}
	for _, name := range daemonNames {
		state := "does not run"
		if pid := pidOf(l, name); pid != 0 {
			state = fmt.Sprintf("pid %d", pid)
		}
		fmt.Fprintf(out, "%-24s %s\n", name, state)
	}
	a, err := newAPI(l)
	if err != nil {
		return err
	}
	if err := a.nodeReady(ctx); err != nil {
		return err
	}
	var pods podList
	if err := a.get(ctx, "/api/v1/pods", &pods); err != nil {
		return err
	}
	for _, pod := range pods.Items {
		reason := notReady(pod)
		if reason == "" {
			reason = strings.ToLower(pod.Status.Phase)
		}
		fmt.Fprintf(out, "%-24s %s\n", pod.Metadata.Namespace+"/"+pod.Metadata.Name, reason)
	}
	return nil
}

func logs(l layout, name string, out io.Writer) error {
	if strings.ContainsRune(name, '/') {
		return fmt.Errorf("show the log of %q: no name of a daemon", name)
	}
	file, err := os.Open(l.state("logs", name+".log"))
	if err != nil {
		return fmt.Errorf("show the log of %s: %w; there are %s and audit", name, err, strings.Join(daemonNames, ", "))
	}
	defer file.Close()
	if _, err := io.Copy(out, file); err != nil {
		return fmt.Errorf("show the log of %s: %w", name, err)
	}
	return nil
}

// outside shows or changes what happens to requests on their way to the outside DNS server.
func outside(ctx context.Context, l layout, pairs []string, out io.Writer) error {
	values, err := parsePairs(pairs)
	if err != nil {
		return err
	}
	method := http.MethodGet
	if len(values) > 0 {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+outsideAddress+":"+controlPort+"/", strings.NewReader(values.Encode()))
	if err != nil {
		return fmt.Errorf("ask the outside server: %w", err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := http.Client{Timeout: requestTimeout, Transport: &http.Transport{DialContext: dialInside(l.Netns)}}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ask the outside server: %w; is the cluster up?", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the outside server's answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("change the outside server: %s", strings.TrimSpace(string(body)))
	}
	_, err = out.Write(body)
	return err
}

// parsePairs reads KEY=VALUE arguments; a key alone is a key with an empty value.
func parsePairs(pairs []string) (url.Values, error) {
	values := url.Values{}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		if key == "" {
			return nil, fmt.Errorf("%q is no KEY=VALUE", pair)
		}
		values.Set(key, value)
	}
	return values, nil
}

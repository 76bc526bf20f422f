// Command bench measures a probe against what people use otherwise, on a real cluster and in one run: the wall time of a first
// and of a second probe against kubectl debug, the agent's size, its memory in the pod, and the speed of the resolver. It judges
// nothing: a goal that is missed is shown, and only what could not be measured is a failure.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// wholeWithin bounds a run with the default number of rounds several times over.
const wholeWithin = 20 * time.Minute

// options are a command line.
type options struct {
	rounds int
	json   bool
	// host is resolved by both sides.
	host string
	// podImage is the image of the pods that are probed, debugImage that of kubectl debug, agentImage that of the probe (empty:
	// the plugin's own default).
	podImage, debugImage, agentImage string
	// agent is the file of the agent's binary.
	agent string
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, errs io.Writer) int {
	o, err := parse(args, errs)
	if err != nil {
		return 2
	}
	// The first signal ends the measuring, and what was created is still removed; the second one kills.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)
	ctx, cancel := context.WithTimeout(ctx, wholeWithin)
	defer cancel()

	r, err := measure(ctx, o, func(format string, args ...any) { fmt.Fprintf(errs, "bench: "+format+"\n", args...) })
	if o.json {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		err = errors.Join(err, enc.Encode(r))
	} else {
		_, printErr := io.WriteString(out, r.table())
		err = errors.Join(err, printErr)
	}
	if err != nil {
		fmt.Fprintf(errs, "bench: %v\n", err)
		return 1
	}
	return 0
}

func parse(args []string, errs io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(errs)
	set.IntVar(&o.rounds, "n", 7, "rounds: each has every probe once, on pods of its own")
	set.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	set.StringVar(&o.host, "host", "api.stripe.com", "the name that both sides resolve")
	set.StringVar(&o.podImage, "pod-image", "", "image of the pods that are probed (default: that of deployment payments in namespace shop)")
	set.StringVar(&o.debugImage, "debug-image", "localhost/busybox:1.35", "image with nslookup for kubectl debug")
	set.StringVar(&o.agentImage, "agent-image", os.Getenv("DNSPROBE_IMAGE"), "image of the probe (default: $DNSPROBE_IMAGE, else the plugin's own)")
	set.StringVar(&o.agent, "agent", "bin/dnsprobe-agent", "the agent's binary, whose size is measured")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if set.NArg() > 0 || o.rounds < 1 {
		err := fmt.Errorf("bench takes flags only, and at least one round: got %q, -n %d", set.Args(), o.rounds)
		fmt.Fprintln(errs, err)
		return o, err
	}
	return o, nil
}

// measure takes every measurement it can, and says with the error which ones it could not.
func measure(ctx context.Context, o options, say func(string, ...any)) (report, error) {
	r := report{Date: time.Now().UTC().Truncate(time.Second), Machine: machineNow(), Rounds: o.rounds, Host: o.host}
	var failed error
	add := func(what string, figures []figure, err error) {
		r.Figures = append(r.Figures, figures...)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", what, err))
		}
	}
	sizes, err := sizes(o.agent)
	add("the agent's size", sizes, err)
	say("resolving on modelled servers")
	speed, err := resolverSpeed(ctx)
	add("the resolver's speed", speed, err)
	if ctx.Err() != nil {
		return r, errors.Join(failed, ctx.Err())
	}

	b, err := occupy(ctx, o)
	if err != nil {
		return r, errors.Join(failed, fmt.Errorf("a namespace for the pods: %w", err))
	}
	wall, err := b.wallTimes(ctx, o, say)
	add("wall times", wall, err)
	say("the agent's memory")
	memory, err := b.memory(ctx, o)
	add("the agent's memory", memory, err)
	r.Machine.LoadAfter = load()
	say("removing namespace %s", namespace)
	return r, errors.Join(failed, b.leave(ctx))
}

// machine is where the figures come from; they mean little on another one.
type machine struct {
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	Cores int    `json:"cores"`
	Go    string `json:"go"`
	// LoadBefore and LoadAfter are the load averages over the last minute; more than Cores means that others were at work.
	LoadBefore string `json:"loadBefore,omitempty"`
	LoadAfter  string `json:"loadAfter,omitempty"`
}

func machineNow() machine {
	return machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version(), LoadBefore: load()}
}

// load returns the first word of /proc/loadavg (proc_loadavg(5)), empty where there is none.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

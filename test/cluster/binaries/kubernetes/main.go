// Command kubernetes is every Kubernetes program of the test cluster in one file: the name it is
// called by (a symbolic link) chooses. One link step instead of five keeps a cold build at
// minutes, and the five programs share nearly all of their code anyway.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	// The controller manager and the API server read time zones of CronJobs; the machine may have no zone files.
	_ "time/tzdata"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	command := commandNamed(filepath.Base(os.Args[0]))
	if command == nil {
		fmt.Fprintf(os.Stderr, "kubernetes: called as %q; call it by a link named like a Kubernetes program, such as kubelet\n", os.Args[0])
		os.Exit(2)
	}
	os.Exit(cli.Run(command))
}

// commandNamed builds only the command asked for: each constructor registers flags and metrics
// globally, and two in one process would collide.
func commandNamed(program string) *cobra.Command {
	switch program {
	case "kube-apiserver":
		return apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		return controllermanager.NewControllerManagerCommand()
	case "kube-scheduler":
		return scheduler.NewSchedulerCommand()
	case "kubelet":
		return kubelet.NewKubeletCommand(context.Background())
	case "kube-proxy":
		return proxy.NewProxyCommand()
	}
	return nil
}

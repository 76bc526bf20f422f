package cli

import (
	"context"
	"io"
	"sync"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/version"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/cluster"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/ephemeral"
)

// askWithin bounds what is asked of the API server before a pod is touched: a cluster that does not answer by then is said to
// be out of reach.
const askWithin = 15 * time.Second

// kube is a connection to a cluster.
type kube struct {
	client    kubernetes.Interface
	namespace string
	other     cluster.Other
	// exec opens the stream of a command in a container.
	exec func(ctx context.Context, at ephemeral.Place, command []string) (io.ReadWriteCloser, error)
}

// connect reads the kubeconfig and the flags that change it.
func connect(flags *genericclioptions.ConfigFlags) (kube, error) {
	const next = "see which clusters you have: kubectl config get-contexts"
	config, err := flags.ToRESTConfig()
	if err != nil {
		return kube{}, &cluster.ReadError{What: "read the kubeconfig", Next: next, Err: err}
	}
	// One run asks a dozen things at once; the default limits of client-go would spread them over seconds.
	config.QPS, config.Burst = 50, 100
	config.UserAgent = "kubectl-dnsprobe/" + version.Version
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return kube{}, &cluster.ReadError{What: "read the namespace from the kubeconfig", Next: next, Err: err}
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return kube{}, &cluster.ReadError{What: "connect to the cluster", Next: next, Err: err}
	}
	return kube{
		client: client, namespace: namespace, other: cluster.FromBuilder(flags),
		exec: func(ctx context.Context, at ephemeral.Place, command []string) (io.ReadWriteCloser, error) {
			return ephemeral.Exec(ctx, config, client, at, command)
		},
	}, nil
}

// scene is a pod that was found.
type scene struct {
	found cluster.Found
	// user returns who the API server says is asking, empty when it does not say.
	user func() string
}

// find finds the pod that a target means.
func (k kube) find(ctx context.Context, target string) (scene, error) {
	ref, err := cluster.ParseTarget(target)
	if err != nil {
		return scene{}, usageError("such as pod/payments-7d4, deploy/payments, svc/payments", "%w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	found, err := cluster.Find(bounded, k.client, k.namespace, ref, k.other)
	return scene{found: found, user: func() string { return "" }}, err
}

// introduce has the API server asked for the user's name in the background. stop ends that.
func (k kube) introduce(ctx context.Context, s scene) (introduced scene, stop func()) {
	asking, cancel := context.WithCancel(ctx)
	who := make(chan string, 1)
	go func() { who <- k.whoami(asking) }()
	s.user = sync.OnceValue(func() string { return <-who })
	return s, func() { cancel(); s.user() }
}

// situation asks everything that decides what can be done to the pod.
func (k kube) situation(ctx context.Context, s scene) ephemeral.Situation {
	bounded, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return ephemeral.Look(bounded, k.client, s.found.Pod)
}

// whoami asks the API server for the user's name, for the others in a session.
func (k kube) whoami(ctx context.Context) string {
	bounded, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	r, err := k.client.AuthenticationV1().SelfSubjectReviews().Create(bounded, &authv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return ""
	}
	return r.Status.UserInfo.Username
}

package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
)

// completeWithin bounds a completion: a shell that hangs is worse than one that completes nothing.
const completeWithin = 2 * time.Second

// completeTargets completes the first word of a command line: kinds and the names of pods, or after a kind the names of its
// objects.
func completeTargets(flags *genericclioptions.ConfigFlags) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			// What follows is a host, which no cluster knows.
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		k, err := connect(flags)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(c.Context(), completeWithin)
		defer cancel()
		return targets(ctx, k.client, k.namespace, word)
	}
}

// completedKinds are the kinds that completion offers, with how their names are listed.
var completedKinds = []struct {
	word string
	list func(context.Context, kubernetes.Interface, string) ([]string, error)
}{
	{"deploy/", func(ctx context.Context, client kubernetes.Interface, namespace string) ([]string, error) {
		l, err := client.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{})
		return namesIn(l, err)
	}},
	{"sts/", func(ctx context.Context, client kubernetes.Interface, namespace string) ([]string, error) {
		l, err := client.AppsV1().StatefulSets(namespace).List(ctx, metav1.ListOptions{})
		return namesIn(l, err)
	}},
	{"ds/", func(ctx context.Context, client kubernetes.Interface, namespace string) ([]string, error) {
		l, err := client.AppsV1().DaemonSets(namespace).List(ctx, metav1.ListOptions{})
		return namesIn(l, err)
	}},
	{"svc/", func(ctx context.Context, client kubernetes.Interface, namespace string) ([]string, error) {
		l, err := client.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{})
		return namesIn(l, err)
	}},
	{"pod/", podNames},
}

func podNames(ctx context.Context, client kubernetes.Interface, namespace string) ([]string, error) {
	l, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{FieldSelector: "status.phase=Running"})
	return namesIn(l, err)
}

// namesIn returns the names of the objects of a list.
func namesIn(list runtime.Object, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	var out []string
	err = meta.EachListItem(list, func(o runtime.Object) error {
		object, err := meta.Accessor(o)
		if err == nil {
			out = append(out, object.GetName())
		}
		return err
	})
	return out, err
}

// targets returns the completions of word.
func targets(ctx context.Context, client kubernetes.Interface, namespace, word string) ([]string, cobra.ShellCompDirective) {
	const nothing = cobra.ShellCompDirectiveNoFileComp
	for _, kind := range completedKinds {
		if !strings.HasPrefix(word, kind.word) {
			continue
		}
		found, err := kind.list(ctx, client, namespace)
		if err != nil {
			return nil, nothing
		}
		var out []string
		for _, name := range found {
			if strings.HasPrefix(kind.word+name, word) {
				out = append(out, kind.word+name)
			}
		}
		return out, nothing
	}
	if strings.Contains(word, "/") {
		return nil, nothing
	}
	var out []string
	for _, kind := range completedKinds {
		if strings.HasPrefix(kind.word, word) {
			out = append(out, kind.word)
		}
	}
	// Without the right to list pods the kinds are still something.
	pods, err := podNames(ctx, client, namespace)
	if err != nil {
		return out, nothing | cobra.ShellCompDirectiveNoSpace
	}
	for _, name := range pods {
		if strings.HasPrefix(name, word) {
			out = append(out, name)
		}
	}
	return out, nothing | cobra.ShellCompDirectiveNoSpace
}

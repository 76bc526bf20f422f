//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// networkOf returns the file that stands for the network namespace of a pod. Its node has to be this machine.
func networkOf(t *testing.T, namespace, pod string) string {
	t.Helper()
	uid := kubectl(t, "-n", namespace, "get", "pod", pod, "-o", "jsonpath={.metadata.uid}")
	groups, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range groups {
		// Processes end while they are looked at.
		text, err := os.ReadFile(file)
		if err == nil && (strings.Contains(string(text), uid) || strings.Contains(string(text), strings.ReplaceAll(uid, "-", "_"))) {
			return filepath.Join(filepath.Dir(file), "ns", "net")
		}
	}
	t.Fatalf("no process of this machine is in a control group of pod %s (%s)", pod, uid)
	return ""
}

// nodeNamespace stands for the network namespace of the test cluster's node.
const nodeNamespace = "/run/netns/dnsprobe"

// filter makes a table of nftables with one chain in a network namespace, in the place of one of that name, until the test ends.
// hook is where the chain looks ("type filter hook input priority 0"); each rule is a line.
func filter(t *testing.T, namespace, table, hook string, rules ...string) {
	t.Helper()
	text := "table inet " + table + "\ndelete table inet " + table + "\n" +
		"table inet " + table + " {\nchain rules {\n" + hook + ";\n" + strings.Join(rules, "\n") + "\n}\n}\n"
	nft(t.Context(), t, namespace, text)
	t.Cleanup(func() {
		// A pod takes its namespace with it.
		if _, err := os.Stat(namespace); err == nil {
			nft(context.WithoutCancel(t.Context()), t, namespace, "table inet "+table+"\ndelete table inet "+table+"\n")
		}
	})
}

func nft(ctx context.Context, t *testing.T, namespace, text string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, "nsenter", "--net="+namespace, "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("nft in %s: %v\n%s%s", namespace, err, out, text)
	}
}

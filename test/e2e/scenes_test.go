//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// checkCause checks that the first finding of a run is of a class, and that what is said of it has these words in it.
func checkCause(t *testing.T, run probe.Run, class string, words ...string) {
	t.Helper()
	if len(run.Findings) == 0 || run.Findings[0].Class != class {
		t.Errorf("findings %q, want %s first; problems %q, follow-ups %+v\nresolutions %s", classes(run), class, run.Problems, run.FollowUps, told(run))
		return
	}
	f := run.Findings[0]
	said := f.Title + "\n" + f.Explain
	for _, e := range f.Evidence {
		said += "\n" + e.Text
	}
	for _, r := range f.Remedies {
		said += "\n" + r.Text + "\n" + r.Caveat
	}
	for _, w := range words {
		if !strings.Contains(said, w) {
			t.Errorf("%q is not in what is said:\n%s", w, said)
		}
	}
	t.Logf("%s: %s", f.Class, f.Title)
}

// told shows what a run asked, and what came of it.
func told(run probe.Run) string {
	var out strings.Builder
	for _, res := range run.Resolutions {
		fmt.Fprintf(&out, "\n  %s %s %+v: %s after %s", res.Host, res.Purpose, res.Question, res.Outcome, res.Duration.Duration())
		for _, a := range res.Attempts {
			for _, q := range a.Queries {
				for _, m := range q.Transmissions {
					fmt.Fprintf(&out, "\n    %s %s %s %s: %s", a.Name, q.Type, m.Server, m.Transport, m.Reply)
				}
			}
		}
	}
	return out.String()
}

// quietPod creates a ready pod in namespace shop that resolves nothing by itself (an address needs no resolution), with the image of a Deployment there, and with
// more of a spec ("dnsPolicy": ...).
func quietPod(t *testing.T, deployment, name, spec string) {
	t.Helper()
	if spec != "" {
		spec += ", "
	}
	podOfImage(t, deployment, name, `{`+spec+`"terminationGracePeriodSeconds": 1, "containers": [
		{"name": "app", "image": "IMAGE", "imagePullPolicy": "IfNotPresent", "args": ["127.0.0.1:1"]}]}`)
	ready(t, name)
}

// impatient makes a libc wait a second where it would wait five.
const impatient = `"dnsConfig": {"options": [{"name": "timeout", "value": "1"}]}`

// drop loses what a pod of namespace shop sends and a rule of nftables matches, at its node and before the addresses of Services are
// translated. The plugin of the test cluster's network knows nothing of NetworkPolicies: this is what they would do.
func drop(t *testing.T, pod, match string) {
	t.Helper()
	filter(t, nodeNamespace, "drop-"+pod, prerouting, "ip saddr "+addressOf(t, pod)+" "+match+" drop")
}

const prerouting = "type filter hook prerouting priority raw"

// addressOf returns the address of a pod of namespace shop.
func addressOf(t *testing.T, pod string) string {
	t.Helper()
	return kubectl(t, "-n", "shop", "get", "pod", pod, "-o", "jsonpath={.status.podIP}")
}

// egress creates a NetworkPolicy that selects a pod of namespace shop; rules are its egress rules, as JSON.
func egress(t *testing.T, pod, rules string) {
	t.Helper()
	create(t, "shop", "networkpolicy", pod, `{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "`+pod+`", "namespace": "shop"},
		"spec": {"podSelector": {"matchLabels": {"app": "`+pod+`"}}, "policyTypes": ["Egress"], "egress": `+rules+`}}`)
}

// dnsPods selects the pods of CoreDNS in a rule of a NetworkPolicy.
const dnsPods = `[{"namespaceSelector": {}, "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}]`

func TestASearchDomainWithAWildcard(t *testing.T) {
	onOurs(t, "its outside world has a zone with a wildcard")
	t.Parallel()
	quietPod(t, "payments", "wildcard", `"dnsConfig": {"searches": ["lab.example.org"]}`)
	run := probed(t, "-n", "shop", "wildcard", "www.example.com")
	checkCause(t, run, "wildcard-search", "lab.example.org", "203.0.113.80", "198.51.100.10")
}

func TestAPodThatIsNotReady(t *testing.T) {
	t.Parallel()
	create(t, "shop", "service", "ring", `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "ring", "namespace": "shop"},
		"spec": {"clusterIP": "None", "selector": {"app": "ring-1"}, "ports": [{"port": 8080}]}}`)
	podOfImage(t, "payments", "ring-1", `{"hostname": "ring-1", "subdomain": "ring", "terminationGracePeriodSeconds": 1, "containers": [
		{"name": "app", "image": "IMAGE", "imagePullPolicy": "IfNotPresent", "args": ["127.0.0.1:1"], "readinessProbe": {"tcpSocket": {"port": 1}, "periodSeconds": 1}}]}`)
	kubectl(t, "-n", "shop", "wait", "pod/ring-1", "--for=jsonpath={.status.phase}=Running", "--timeout=60s")
	run := probedUntil(t, 3, "-n", "shop", podOf(t, "shop", "payments-uid1000"), "ring-1.ring")
	checkCause(t, run, "not-ready-endpoints", "ring-1", "publishNotReadyAddresses")
}

func TestTheNodesResolverInsteadOfTheClusters(t *testing.T) {
	onOurs(t, "what the resolver of a node knows is known there")
	t.Parallel()
	quietPod(t, "payments", "onnode", `"hostNetwork": true, "dnsPolicy": "ClusterFirst"`)
	run := probedUntil(t, 3, "-n", "shop", "onnode", "ledger.core")
	checkCause(t, run, "wrong-dns-policy", "ClusterFirstWithHostNet")
}

func TestTCPIsBlocked(t *testing.T) {
	onOurs(t, "its node is this machine, where packets can be dropped")
	t.Parallel()
	// Go asks for 1232 bytes over UDP, and again over TCP for what is larger.
	quietPod(t, "cart", "onlyudp", impatient)
	egress(t, "onlyudp", `[{"ports": [{"protocol": "UDP", "port": 53}]}]`)
	drop(t, "onlyudp", "tcp dport 53")
	run := probedUntil(t, 3, "-n", "shop", "onlyudp", "huge.example.com")
	checkCause(t, run, "tcp53-blocked", "TCP", "onlyudp")
}

func TestAPolicyThatForgetsDNS(t *testing.T) {
	onOurs(t, "its node is this machine, where packets can be dropped")
	t.Parallel()
	quietPod(t, "checkout", "denied", impatient)
	egress(t, "denied", `[{"to": [{"ipBlock": {"cidr": "10.50.0.0/16"}}], "ports": [{"protocol": "TCP", "port": 5432}]}]`)
	drop(t, "denied", "meta l4proto {tcp, udp} th dport 53")
	run := probedUntil(t, 3, "-n", "shop", "denied", "ledger.core")
	checkCause(t, run, "egress-blocked", "denied", "10.50.0.0/16")
}

func TestAPolicyThatForgetsUDP(t *testing.T) {
	onOurs(t, "its node is this machine, where packets can be dropped")
	t.Parallel()
	quietPod(t, "checkout", "onlytcp", impatient)
	egress(t, "onlytcp", `[{"ports": [{"protocol": "TCP"}]}]`)
	drop(t, "onlytcp", "udp dport 53")
	run := probedUntil(t, 3, "-n", "shop", "onlytcp", "ledger.core")
	checkCause(t, run, "egress-blocked-udp", "onlytcp")
}

// TestOneOfTwoCoreDNSPodsIsDead loses what a pod sends to one of the pods behind the Service as it arrives there. Its readiness probe goes
// on to be answered, as that of a pod counts as answered for the minute in which nobody has noticed that its node is gone. What was
// lost on the way out of the node would never have become a connection for conntrack, and each message would draw a server of its own.
func TestOneOfTwoCoreDNSPodsIsDead(t *testing.T) {
	onOurs(t, "its node is this machine, where packets can be dropped")
	t.Parallel()
	quietPod(t, "payments", "halved", impatient)
	servers := strings.Fields(kubectl(t, "-n", "kube-system", "get", "pods", "-l", "k8s-app=kube-dns", "-o", "jsonpath={.items[*].metadata.name}"))
	if len(servers) != 2 {
		t.Fatalf("CoreDNS has the pods %q, want two", servers)
	}
	filter(t, networkOf(t, "kube-system", servers[0]), "drop-halved", prerouting, "ip saddr "+addressOf(t, "halved")+" meta l4proto {tcp, udp} th dport 53 drop")
	run := probedUntil(t, -1, "-n", "shop", "halved", "ledger", "--count", "16")
	checkCause(t, run, "dead-backend", servers[0])
}

// TestTheServiceOfDNSHasNoEndpoints takes DNS away from the whole cluster for as long as a run takes.
func TestTheServiceOfDNSHasNoEndpoints(t *testing.T) {
	onOurs(t, "a cluster that others use must not lose its DNS")
	const pod = "refused"
	quietPod(t, "payments", pod, "")
	selector := func(ctx context.Context, label string) {
		patch := `{"spec": {"selector": {"k8s-app": "` + label + `"}}}`
		if r := run(ctx, "kubectl", "-n", "kube-system", "patch", "service", "kube-dns", "-p", patch); r.code != 0 {
			t.Fatal(r.stderr)
		}
		// The change reaches the node within a moment: the application says when.
		ctx, stop := context.WithTimeout(ctx, 20*time.Second)
		defer stop()
		for want := label == "kube-dns"; ctx.Err() == nil; {
			r := run(ctx, "kubectl", "-n", "shop", "exec", pod, "--", "/app/payments", "--once", "ledger:8080")
			if resolved := r.code == 0; resolved == want && r.code >= 0 {
				return
			}
		}
		t.Errorf("with the selector %s: %v", label, ctx.Err())
	}
	defer selector(context.WithoutCancel(t.Context()), "kube-dns")
	selector(t.Context(), "nobody")
	run := probedUntil(t, 3, "-n", "shop", pod, "ledger.core")
	checkCause(t, run, "no-endpoints")
}

// nodeLocal runs a NodeLocal DNSCache until the test ends, and returns its address.
func nodeLocal(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/nodelocal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	image := kubectl(t, "-n", "kube-system", "get", "deployment", "coredns", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
	manifest := strings.ReplaceAll(string(text), "IMAGE", image)
	apply := func(ctx context.Context, args ...string) {
		cmd := command(ctx, "kubectl", append(args, "-f", "-")...)
		cmd.Stdin = strings.NewReader(manifest)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("kubectl %q: %v\n%s", args, err, out)
		}
	}
	t.Cleanup(func() {
		apply(context.WithoutCancel(t.Context()), "delete", "--ignore-not-found", "--wait")
	})
	apply(t.Context(), "apply")
	kubectl(t, "-n", "kube-system", "rollout", "status", "daemonset/node-local-dns", "--timeout=60s")
	return "169.254.20.10"
}

// cached is the part of a pod's spec by which it asks the cache, as the kubelet's clusterDNS would make it.
func cached(address string) string {
	return `"dnsPolicy": "None", "dnsConfig": {"nameservers": ["` + address + `"],
		"searches": ["shop.svc.cluster.local", "svc.cluster.local", "cluster.local"], "options": [{"name": "ndots", "value": "5"}, {"name": "timeout", "value": "1"}]}`
}

func TestNodeLocalDNSCache(t *testing.T) {
	onOurs(t, "a cluster that others use must not get another cache")
	address := nodeLocal(t)
	quietPod(t, "payments", "cached", cached(address))
	quietPod(t, "checkout", "uncached", cached(address))

	run := probed(t, "-n", "shop", "cached", "ledger.core.svc.cluster.local.")
	cache, known := fact.Facts(run.Facts).NodeCache()
	if !known || !cache.Exists || !cache.Ready || len(cache.Addresses) != 1 || cache.Addresses[0].String() != address {
		t.Errorf("what is known of the cache: %+v (known: %t), %+v", cache, known, run.Facts[fact.NodeLocal])
	}
	checkCause(t, run, "healthy")

	// A policy for the pods of CoreDNS does not cover an address of the node.
	egress(t, "uncached", `[{"to": `+dnsPods+`, "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}]`)
	drop(t, "uncached", "ip daddr "+address)
	run = probedUntil(t, 3, "-n", "shop", "uncached", "ledger.core")
	checkCause(t, run, "nodelocal-blocked", address, "uncached")
}

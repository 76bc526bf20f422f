package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
)

func system(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem}
}

// sliceOf is an EndpointSlice of a Service; an address with a minus before it is not ready.
func sliceOf(namespace, service string, addresses ...string) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name: service + "-1", Namespace: namespace, Labels: map[string]string{discoveryv1.LabelServiceName: service},
			Annotations: map[string]string{corev1.EndpointsLastChangeTriggerTime: now.Add(-90 * time.Second).Format(time.RFC3339)},
		},
		Ports: []discoveryv1.EndpointPort{{Name: new("dns"), Protocol: new(corev1.ProtocolUDP), Port: new(int32(53))}},
	}
	for i, a := range addresses {
		addr, isNot := strings.CutPrefix(a, "-")
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{addr}, Conditions: discoveryv1.EndpointConditions{Ready: new(!isNot)}, NodeName: new("node-b"),
			TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: fmt.Sprintf("%s-%d", service, i)},
		})
	}
	return s
}

// stock is a cluster as kubeadm makes it, with NodeLocal DNSCache, in which a pod shop/web-1 runs.
func stock() (*corev1.Pod, []runtime.Object) {
	dnsLabels := map[string]string{"k8s-app": "kube-dns"}
	started := before(52 * time.Hour)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-1", Namespace: "shop", UID: "u1", Labels: map[string]string{"app": "web", "pod-template-hash": "5d4"},
			OwnerReferences: controlledBy("apps/v1", "ReplicaSet", "web-5d4"),
		},
		Spec: corev1.PodSpec{NodeName: "node-a", Containers: []corev1.Container{{
			Name: "app", Image: "debian:12", Env: []corev1.EnvVar{{Name: "LEDGER_HOST", Value: "ledger"}, {Name: "DB_URL", Value: "postgres://u:p@db.orders:5432/x"}},
		}}},
		Status: corev1.PodStatus{StartTime: &started, Phase: corev1.PodRunning},
	}
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: namespace}
	}
	coredns := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "kube-dns-0", Namespace: metav1.NamespaceSystem, Labels: dnsLabels},
		Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{RestartCount: 2}}},
	}
	cache := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "node-local-dns-x1", Namespace: metav1.NamespaceSystem, Labels: map[string]string{"k8s-app": "node-local-dns"}},
		Spec: corev1.PodSpec{NodeName: "node-a", Containers: []corev1.Container{{
			Name: "node-cache", Args: []string{"-localip", "169.254.20.10,10.96.0.10", "-conf", "/etc/Corefile"},
		}}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	elsewhere := cache.DeepCopy()
	elsewhere.Name, elsewhere.Spec.NodeName = "node-local-dns-x2", "node-b"
	return pod, []runtime.Object{
		pod, coredns, cache, elsewhere,
		&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web-5d4", Namespace: "shop", OwnerReferences: controlledBy("apps/v1", "Deployment", "web")}},
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", Annotations: map[string]string{"meta.helm.sh/release-name": "shop"}}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "kube-dns", Namespace: metav1.NamespaceSystem, Labels: dnsLabels}, Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.10", Selector: dnsLabels}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "kube-dns-upstream", Namespace: metav1.NamespaceSystem, Labels: dnsLabels}, Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.77"}},
		sliceOf(metav1.NamespaceSystem, "kube-dns", "10.244.0.5", "-10.244.0.6"),
		&corev1.ConfigMap{ObjectMeta: system("coredns"), Data: map[string]string{"Corefile": ".:53 {\n  kubernetes k8s.example in-addr.arpa {\n    ttl 30\n  }\n  forward . /etc/resolv.conf\n}\n"}},
		&corev1.ConfigMap{ObjectMeta: system("node-local-dns"), Data: map[string]string{"Corefile": ".:53 {\n  forward . __PILLAR__UPSTREAM__SERVERS__ {\n    force_tcp\n  }\n}\n"}},
		&corev1.ConfigMap{ObjectMeta: system("kube-proxy"), Data: map[string]string{"config.conf": "kind: KubeProxyConfiguration\nmode: ipvs\n"}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}, Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KernelVersion: "5.15.0-91-generic", OSImage: "Debian 12"}}},
		&networkingv1.NetworkPolicy{ObjectMeta: meta("shop", "dns-only"), Spec: networkingv1.NetworkPolicySpec{
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress},
			Egress: []networkingv1.NetworkPolicyEgressRule{{
				Ports: []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolUDP), Port: new(intstr.FromInt32(53))}},
				To:    []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "system"}}}},
			}},
		}},
		&corev1.Event{
			ObjectMeta: meta("shop", "web-1.1"), Reason: "DNSConfigForming", Message: "Search Line limits were exceeded",
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "web-1", UID: "u1"},
		},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem, Labels: map[string]string{"tier": "system"}}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "store"}},
		&corev1.Service{ObjectMeta: meta("shop", "ledger"), Spec: corev1.ServiceSpec{ClusterIP: "10.96.20.1"}}, sliceOf("shop", "ledger", "10.244.1.9"),
		&corev1.Service{ObjectMeta: meta("store", "ring-hl"), Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}}, sliceOf("store", "ring-hl", "10.244.1.20", "-10.244.1.21"),
		&corev1.Pod{
			ObjectMeta: meta("store", "node-1"), Spec: corev1.PodSpec{NodeName: "node-b", Subdomain: "ring-hl"},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.244.1.21"},
		},
		&corev1.Event{
			ObjectMeta: meta("default", "node-a.1"), Reason: "ConntrackFull", LastTimestamp: before(time.Minute),
			InvolvedObject: corev1.ObjectReference{Kind: "Node", Name: "node-a"},
		},
	}
}

// theHosts are those of the stock run.
var theHosts = []string{"ledger", "node-1.ring-hl.store", "status.example"}

// told are the facts of the stock run.
var told = map[string]string{
	fact.DNSPolicy: "ClusterFirst", fact.DNSConfig: "none", fact.HostNetwork: "false", fact.HostAliases: "none", fact.Owner: "Deployment/web", fact.Mesh: "none",
	fact.Environment: "ledger db.orders", fact.Images: "app=debian:12", fact.ManagedBy: "Helm release shop", fact.DNSService: "10.96.0.10",
	fact.DNSEndpoints:        "10.244.0.5 ready pod=kube-dns-0 node=node-b restarts=2; 10.244.0.6 not-ready pod=kube-dns-1 node=node-b",
	fact.DNSEndpointsChanged: "1m30s", fact.DNSUpstreamService: "10.96.0.77", fact.ClusterDomain: "k8s.example",
	fact.NodeLocal: "169.254.20.10 10.96.0.10 ready pod=node-local-dns-x1", fact.NetworkPolicies: "dns-only: udp/53 to dns-pods",
	fact.KubeProxyMode: "ipvs", fact.Conntrack: "full", fact.Kernel: "5.15.0-91-generic", fact.OSImage: "Debian 12", fact.DNSEvents: "Search Line limits were exceeded",
	fact.PodStarted:          "52h0m0s",
	"service ledger.shop":    "ClusterIP 10.96.20.1 ready=1",
	"service ring-hl.store":  "headless ready=1 not-ready=1",
	"pod node-1.store":       "10.244.1.21 not-ready phase=Running node=node-b",
	"service status.example": "none",
	"service example.shop":   "none",
	"namespace store":        "exists",
	"namespace example":      "none",
}

func lookAt(t *testing.T, client *fake.Clientset, pod *corev1.Pod) Known {
	t.Helper()
	return Look(t.Context(), client, Subject{Pod: pod, Hosts: theHosts, Now: now})
}

func TestAllFactsOfACluster(t *testing.T) {
	pod, objects := stock()
	known := lookAt(t, fake.NewClientset(objects...), pod)
	got := map[string]string{}
	for name, f := range known.Facts {
		if f.Source == "" || f.Value == "" && name != fact.NodeResolvConf {
			t.Errorf("%s: %+v", name, f)
		}
		got[name] = f.Value
	}
	for _, whole := range []string{fact.Corefile, fact.NodeLocalCorefile} {
		if blocks, known := known.Facts.Corefile(whole); !known || len(blocks) != 1 {
			t.Errorf("%s: %+v", whole, known)
		}
		delete(got, whole)
	}
	delete(got, fact.NodeResolvConf)
	if diff := cmp.Diff(told, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if known.Owner.Workload.Owner.Name != "web" || !slices.Equal(known.Services, []string{"ledger"}) {
		t.Errorf("owner %+v, Services %v", known.Owner, known.Services)
	}
}

// TestEachPermissionThatIsMissing takes each permission away and holds that exactly the facts which rest on it become unknown, each
// with that permission in words, and that all others stay as they are.
func TestEachPermissionThatIsMissing(t *testing.T) {
	all := lookAt(t, func() *fake.Clientset { _, objects := stock(); return fake.NewClientset(objects...) }(), func() *corev1.Pod { p, _ := stock(); return p }()).Facts
	for _, tt := range []struct {
		verb, resource, namespace, says string
		facts                           []string
	}{
		{"get", "services", "kube-system", "get services in namespace kube-system", []string{fact.DNSService, fact.DNSUpstreamService}},
		{"list", "endpointslices", "kube-system", "list endpointslices in namespace kube-system", []string{fact.DNSEndpoints, fact.DNSEndpointsChanged}},
		{"list", "pods", "kube-system", "list pods in namespace kube-system", []string{fact.NodeLocal}},
		{
			"get", "configmaps", "kube-system", "get configmaps in namespace kube-system",
			[]string{fact.Corefile, fact.NodeLocalCorefile, fact.KubeProxyMode, fact.ClusterDomain},
		},
		{"list", "networkpolicies", "shop", "list networkpolicies in namespace shop", []string{fact.NetworkPolicies}},
		{"list", "events", "shop", "list events in namespace shop", []string{fact.DNSEvents}},
		{"list", "events", "default", "list events in namespace default", []string{fact.Conntrack}},
		{"get", "nodes", "", "get nodes", []string{fact.Kernel, fact.OSImage}},
		{"get", "namespaces", "", "get namespaces", []string{"namespace store", "namespace example"}},
		{"get", "services", "store", "get services in namespace store", []string{"service ring-hl.store"}},
		{"get", "pods", "store", "get pods in namespace store", []string{"pod node-1.store"}},
		{"get", "deployments", "shop", "get deployments in namespace shop", []string{fact.ManagedBy}},
	} {
		t.Run(tt.says, func(t *testing.T) {
			pod, objects := stock()
			client := fake.NewClientset(objects...)
			client.PrependReactor(tt.verb, tt.resource, func(a clienttesting.Action) (bool, runtime.Object, error) {
				return a.GetNamespace() == tt.namespace, nil, apierrors.NewForbidden(schema.GroupResource{Resource: tt.resource}, "", errors.New("RBAC"))
			})
			facts := lookAt(t, client, pod).Facts
			want := "you may not " + tt.says + "; that permission would tell"
			for _, name := range tt.facts {
				if f := facts[name]; f.Unknown != want || f.Value != "" {
					t.Errorf("%s: %+v, want unknown: %q", name, f, want)
				}
			}
			for name, f := range all {
				// What hangs on the labels of a namespace or on the numbers beside it is less exact, and says so.
				if slices.Contains(tt.facts, name) || facts[name].Value == f.Value {
					continue
				}
				if (facts[name].Value == "" && name != "pod node-1.store") || !strings.Contains(facts[name].Source, want) && name != "pod node-1.store" {
					t.Errorf("%s: %+v, was %+v", name, facts[name], f)
				}
			}
		})
	}
}

func TestNothingMayBeRead(t *testing.T) {
	pod, objects := stock()
	facts := lookAt(t, forbid(fake.NewClientset(objects...), "*", "*"), pod).Facts
	ofThePod := []string{fact.DNSPolicy, fact.DNSConfig, fact.HostNetwork, fact.HostAliases, fact.Owner, fact.Mesh, fact.Environment, fact.Images, fact.PodStarted}
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		f := facts[name]
		switch {
		case slices.Contains(ofThePod, name):
			if f.Value == "" {
				t.Errorf("%s: %+v, but the pod tells", name, f)
			}
		case name == fact.NodeResolvConf:
		case f.Value != "" || !strings.HasPrefix(f.Unknown, "you may not ") || !strings.HasSuffix(f.Unknown, "; that permission would tell"):
			t.Errorf("%s: %+v", name, f)
		}
	}
	if got := facts[fact.Environment].Value; got != "db.orders" {
		t.Errorf("environment %q: a single label is no host unless it is known to be a Service", got)
	}
	for name := range told {
		if _, there := facts[name]; !there && name != "pod node-1.store" {
			t.Errorf("%s is missing, not unknown", name)
		}
	}
}

func TestAnAPIServerThatDoesNotAnswer(t *testing.T) {
	pod, objects := stock()
	client := fake.NewClientset(objects...)
	client.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, context.DeadlineExceeded })
	facts := lookAt(t, client, pod).Facts
	if f := facts[fact.Corefile]; f.Unknown != "the API server did not answer in time when it was asked to get configmaps in namespace kube-system" {
		t.Errorf("%+v", f)
	}
	client = fake.NewClientset(objects...)
	client.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("x\x1b[2J" + strings.Repeat("y", 9999))
	})
	for name, f := range lookAt(t, client, pod).Facts {
		if len(f.Unknown) > 500 || strings.Contains(f.Unknown, "\x1b") {
			t.Errorf("%s: an error of the API server came through: %.80q", name, f.Unknown)
		}
	}
}

// TestOnlyWhatIsNeededIsAsked counts what one run asks of the API server: nothing is written, and nothing is asked twice.
func TestOnlyWhatIsNeededIsAsked(t *testing.T) {
	pod, objects := stock()
	client := fake.NewClientset(objects...)
	lookAt(t, client, pod)
	seen := map[string]int{}
	for _, a := range client.Actions() {
		if a.GetVerb() != "get" && a.GetVerb() != "list" {
			t.Errorf("%s %s", a.GetVerb(), a.GetResource().Resource)
		}
		what := fmt.Sprint(a.GetVerb(), " ", a.GetNamespace(), "/", a.GetResource().Resource)
		switch a := a.(type) {
		case clienttesting.GetAction:
			what += "/" + a.GetName()
		case clienttesting.ListAction:
			what += " " + a.GetListRestrictions().Labels.String()
		}
		seen[what]++
	}
	for what, n := range seen {
		if n > 1 {
			t.Errorf("%s: asked %d times", what, n)
		}
	}
	if len(seen) > 30 {
		t.Errorf("%d questions for 3 hosts", len(seen))
	}
	t.Logf("%d questions for 3 hosts", len(seen))
}

func TestTheSearchListTellsTheZone(t *testing.T) {
	search := []string{"shop.svc.k8s.example", "svc.k8s.example", "k8s.example"}
	unknown := fact.Facts{fact.ClusterDomain: {Unknown: "no"}}
	if f := WithSearch(unknown, search)[fact.ClusterDomain]; f.Value != "k8s.example" || f.Source == "" {
		t.Errorf("%+v", f)
	}
	if unknown[fact.ClusterDomain].Value != "" {
		t.Error("the facts that were given have changed")
	}
	if f := WithSearch(fact.Facts{fact.ClusterDomain: {Value: "a"}}, search)[fact.ClusterDomain]; f.Value != "a" {
		t.Errorf("what the Corefile says was replaced: %+v", f)
	}
	if f := WithSearch(unknown, []string{"example.org"})[fact.ClusterDomain]; f.Unknown == "" {
		t.Errorf("%+v", f)
	}
}

package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
)

func TestModesOfKubeProxy(t *testing.T) {
	config := func(name, key, text string) runtime.Object {
		return &corev1.ConfigMap{ObjectMeta: system(name), Data: map[string]string{key: text}}
	}
	for name, tt := range map[string]struct {
		objects       []runtime.Object
		want, unknown string
	}{
		"ipvs":       {objects: []runtime.Object{config("kube-proxy", "config.conf", "kind: KubeProxyConfiguration\nmode: \"ipvs\"\n")}, want: "ipvs"},
		"by default": {objects: []runtime.Object{config("kube-proxy", "config.conf", "kind: KubeProxyConfiguration\nmode: \"\"\n")}, want: "iptables"},
		"EKS": {
			objects: []runtime.Object{config("kube-proxy", "kubeconfig", "kind: Config"), config("kube-proxy-config", "config", "kind: KubeProxyConfiguration\nmode: nftables\n")},
			want:    "nftables",
		},
		"not there":     {unknown: "something else may stand for it"},
		"no YAML":       {objects: []runtime.Object{config("kube-proxy", "config.conf", "KubeProxyConfiguration: [")}, unknown: "cannot be read"},
		"another thing": {objects: []runtime.Object{config("kube-proxy", "config.conf", "kind: Config")}, unknown: "it has no KubeProxyConfiguration"},
	} {
		f := kubeProxyFact(readKubeProxy(t.Context(), fake.NewClientset(tt.objects...)))
		if f.Value != tt.want || !strings.Contains(f.Unknown, tt.unknown) || (f.Unknown == "") != (tt.unknown == "") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestFactsOfANode(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KernelVersion: "6.1.0-18\x1b[2J"}}}
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "node-a", RuntimeClassName: new("gvisor")}}
	facts := nodeFacts(asked(getNode, "", node, nil), pod)
	if f := facts[fact.Kernel]; strings.Contains(f.Value, "\x1b") || !strings.HasPrefix(f.Value, "6.1.0-18") || !strings.Contains(f.Source, "runtime class gvisor") {
		t.Errorf("%+v", f)
	}
	if f := facts[fact.OSImage]; f.Unknown != "the kubelet does not say" {
		t.Errorf("%+v", f)
	}
	if f := facts[fact.NodeResolvConf]; f.Value != "" || f.Unknown == "" {
		t.Errorf("%+v", f)
	}
}

func TestEventsOfAPod(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Namespace: "shop", UID: "u1"}}
	event := func(n int, reason, name, uid, message string) runtime.Object {
		return &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("e%d", n), Namespace: "shop"}, Reason: reason, Message: message,
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: name, UID: types.UID("u" + uid)},
		}
	}
	client := fake.NewClientset(
		event(1, dnsConfigForming, "web-1", "1", "Nameserver limits were exceeded, the applied nameserver line is: 10.8.0.53\nx"),
		event(2, dnsConfigForming, "web-1", "1", "Nameserver limits were exceeded, the applied nameserver line is: 10.8.0.53\nx"),
		event(3, dnsConfigForming, "web-1", "0", "of a pod that had the name before"), event(4, dnsConfigForming, "web-2", "1", "of another pod"),
		event(5, "Pulled", "web-1", "1", "of another kind"), event(6, dnsConfigForming, "web-1", "1", "Search Line limits were exceeded"),
	)
	f := eventsFact(readEvents(t.Context(), client, pod), pod)
	if want := "Nameserver limits were exceeded, the applied nameserver line is: 10.8.0.53\\x0ax\nSearch Line limits were exceeded"; f.Value != want {
		t.Errorf("%+v, want %q", f, want)
	}
	if f := eventsFact(readEvents(t.Context(), fake.NewClientset(), pod), pod); f.Value != fact.None {
		t.Errorf("%+v", f)
	}
}

func TestConntrackIsFullWhileSomebodySaysSo(t *testing.T) {
	event := func(node, reason string, age time.Duration) corev1.Event {
		return corev1.Event{Reason: reason, LastTimestamp: before(age), InvolvedObject: corev1.ObjectReference{Kind: "Node", Name: node}}
	}
	for name, tt := range map[string]struct {
		events []corev1.Event
		want   string
	}{
		"nobody says so":  {nil, ""},
		"just now":        {[]corev1.Event{event("node-a", conntrackFull, time.Hour), event("node-a", conntrackFull, time.Minute)}, "full"},
		"an hour ago":     {[]corev1.Event{event("node-a", conntrackFull, time.Hour)}, ""},
		"another node":    {[]corev1.Event{event("node-b", conntrackFull, time.Minute)}, ""},
		"something else":  {[]corev1.Event{event("node-a", "OOMKilling", time.Minute)}, ""},
		"without a time":  {[]corev1.Event{{Reason: conntrackFull, InvolvedObject: corev1.ObjectReference{Kind: "Node", Name: "node-a"}}}, ""},
		"by the new time": {[]corev1.Event{{Reason: conntrackFull, EventTime: metav1.NewMicroTime(now), InvolvedObject: corev1.ObjectReference{Kind: "Node", Name: "node-a"}}}, "full"},
	} {
		f := conntrackFact(asked(listNodeEvents, "default", tt.events, nil), "node-a", now)
		if f.Value != tt.want || (f.Unknown == "") != (tt.want != "") || f.Source == "" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

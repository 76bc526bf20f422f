package cluster

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
)

func TestWhereTheClustersDNSIs(t *testing.T) {
	service := func(namespace, name, ip string, labels map[string]string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels}, Spec: corev1.ServiceSpec{ClusterIP: ip}}
	}
	addOn := map[string]string{"k8s-app": "kube-dns"}
	chart := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "rke2-coredns-x", Namespace: metav1.NamespaceSystem, Labels: addOn},
		Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "tmp"}, {VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "rke2-coredns-rke2-coredns"}, Items: []corev1.KeyToPath{{Key: "Corefile", Path: "Corefile"}},
		}}}}},
	}
	corefile := map[string]string{"Corefile": ". {\n kubernetes k8s.example {\n }\n}"}
	for name, tt := range map[string]struct {
		objects                       []runtime.Object
		service, endpoints, zone, unk string
	}{
		"kube-dns without endpoints": {
			objects: []runtime.Object{service("kube-system", "kube-dns", "198.51.100.10", nil)}, service: "198.51.100.10", endpoints: "none",
		},
		"another name": {
			objects: []runtime.Object{
				service("kube-system", "kube-dns-upstream", "198.51.100.99", addOn), service("kube-system", "rke2-coredns-rke2-coredns", "198.51.100.11", addOn),
				sliceOf("kube-system", "rke2-coredns-rke2-coredns", "10.42.0.5"), chart,
				&corev1.ConfigMap{ObjectMeta: system("rke2-coredns-rke2-coredns"), Data: corefile},
			},
			service: "198.51.100.11", endpoints: "10.42.0.5 ready pod=rke2-coredns-rke2-coredns-0 node=node-b", zone: "k8s.example",
		},
		"OpenShift": {
			objects: []runtime.Object{
				service("openshift-dns", "dns-default", "172.30.0.10", nil), sliceOf("openshift-dns", "dns-default", "10.128.0.5"),
				&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "dns-default", Namespace: "openshift-dns"}, Data: corefile},
			},
			service: "172.30.0.10", endpoints: "10.128.0.5 ready pod=dns-default-0 node=node-b", zone: "k8s.example",
		},
		"none": {unk: "namespace kube-system has no Service kube-dns, and none with the label k8s-app=kube-dns"},
		"a headless one": {
			objects: []runtime.Object{service("kube-system", "kube-dns", "None", nil)}, unk: "it has no address of its own", endpoints: "none",
		},
	} {
		facts := readDNS(t.Context(), fake.NewClientset(tt.objects...)).facts(now)
		if f := facts[fact.DNSService]; f.Value != tt.service || f.Unknown != tt.unk {
			t.Errorf("%s: Service %+v", name, f)
		}
		if f := facts[fact.DNSEndpoints]; f.Value != tt.endpoints || tt.endpoints == "" && f.Unknown == "" {
			t.Errorf("%s: endpoints %+v", name, f)
		}
		if f := facts[fact.ClusterDomain]; f.Value != tt.zone || tt.zone == "" && f.Unknown == "" {
			t.Errorf("%s: zone %+v", name, f)
		}
	}
}

func TestServiceWithTwoFamilies(t *testing.T) {
	s := &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.10", ClusterIPs: []string{"10.96.0.10", "fd00::a"}}}
	if f := serviceFact(s); f.Value != "10.96.0.10 fd00::a" {
		t.Errorf("%+v", f)
	}
}

func TestEndpointsOfSlices(t *testing.T) {
	s := sliceOf("kube-system", "kube-dns", "10.0.0.1", "-10.0.0.2", "not an address")
	s.Endpoints[0].Conditions.Ready = nil
	s.Ports = []discoveryv1.EndpointPort{{Protocol: new(corev1.ProtocolTCP), Port: new(int32(9153))}, {Protocol: new(corev1.ProtocolUDP), Port: new(int32(5353))}}
	text := fact.EndpointsText(endpointsOf(s))
	if want := "10.0.0.1 ready pod=kube-dns-0 node=node-b port=5353; 10.0.0.2 not-ready pod=kube-dns-1 node=node-b port=5353"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
}

func TestWhenEndpointsChanged(t *testing.T) {
	at := func(d time.Duration) *metav1.Time { b := before(d); return &b }
	for name, tt := range map[string]struct {
		annotation string
		fields     []metav1.ManagedFieldsEntry
		want       time.Time
	}{
		"by the annotation": {annotation: now.Format(time.RFC3339Nano), fields: []metav1.ManagedFieldsEntry{{Time: at(time.Hour)}}, want: now},
		"by its fields":     {fields: []metav1.ManagedFieldsEntry{{Time: at(time.Hour)}, {Time: at(time.Minute)}, {}}, want: now.Add(-time.Minute)},
		"nonsense":          {annotation: "yesterday"},
		"not at all":        {},
	} {
		s := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{corev1.EndpointsLastChangeTriggerTime: tt.annotation}, ManagedFields: tt.fields}}
		if got, _ := sliceChanged(s); !got.Equal(tt.want) {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func TestCorefilesThatAreNone(t *testing.T) {
	config := func(data map[string]string) answer[*corev1.ConfigMap] {
		return asked(getDNSConfigs, metav1.NamespaceSystem, &corev1.ConfigMap{ObjectMeta: system("coredns"), Data: data}, nil)
	}
	if f := corefileFact(config(nil), "kube-system", "coredns"); f.Unknown != "it has no Corefile" {
		t.Errorf("%+v", f)
	}
	f := corefileFact(config(map[string]string{"Corefile": strings.Repeat("#", maxConfig+1)}), "kube-system", "coredns")
	if len(f.Value) != maxConfig || !strings.Contains(f.Source, "cut off after 64 KiB") {
		t.Errorf("%d bytes, source %q", len(f.Value), f.Source)
	}
	facts := fact.Facts{fact.Corefile: {Value: ". {\n forward . 192.0.2.1\n}"}}
	if f := zoneFact(facts); f.Unknown != "the Corefile has no plugin kubernetes with a zone" {
		t.Errorf("%+v", f)
	}
}

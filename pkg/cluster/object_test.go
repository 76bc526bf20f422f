package cluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestWhatHostsCouldMean(t *testing.T) {
	for host, want := range map[string][]meant{
		"ledger":                              {{"ledger", "shop", ""}},
		"ledger.billing":                      {{"ledger", "billing", ""}, {"billing", "shop", "ledger"}},
		"Ledger.Billing.":                     {{"ledger", "billing", ""}, {"billing", "shop", "ledger"}},
		"node-1.ring-hl.store":                {{"ring-hl", "store", "node-1"}},
		"ledger.billing.svc":                  {{"ledger", "billing", ""}},
		"ledger.billing.svc.cluster.local":    {{"ledger", "billing", ""}},
		"node-1.ring.store.svc.cluster.local": {{"ring", "store", "node-1"}},
		"api.partner.example.net":             nil,
		"10.0.0.1":                            nil,
		"fd00::1":                             nil,
		"_tcp.ledger":                         nil,
		"":                                    nil,
		"a..b":                                nil,
		"../../secrets/x":                     nil,
		strings.Repeat("a", 64):               nil,
	} {
		if diff := cmp.Diff(want, meanings([]string{host}, "shop"), cmp.AllowUnexported(meant{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", host, diff)
		}
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf("h%d", i))
	}
	if got := meanings(many, "shop"); len(got) != maxAsked {
		t.Errorf("%d of 100 hosts", len(got))
	}
	if got := meanings([]string{"a", "a", "a.shop.svc"}, "shop"); len(got) != 1 {
		t.Errorf("the same Service: %v", got)
	}
}

func TestServicesThatHostsMean(t *testing.T) {
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: namespace}
	}
	pod := func(name, subdomain string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: meta("shop", name), Spec: corev1.PodSpec{Subdomain: subdomain}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	}
	client := fake.NewClientset(
		&corev1.Service{ObjectMeta: meta("shop", "db"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "db.example.com"}},
		&corev1.Service{ObjectMeta: meta("shop", "new"), Spec: corev1.ServiceSpec{}},
		&corev1.Service{ObjectMeta: meta("shop", "ring"), Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, PublishNotReadyAddresses: true}},
		&corev1.Service{ObjectMeta: meta("shop", "six"), Spec: corev1.ServiceSpec{ClusterIP: "fd00::6"}}, sliceOf("shop", "six", "fd01::1", "fd01::2", "-fd01::3"),
		pod("n-0", "ring"), pod("n-1", "other"),
	)
	list := meanings([]string{"db", "new", "ring", "six", "n-0.ring", "n-1.ring", "n-2.ring", "x.gone"}, "shop")
	facts := readObjects(t.Context(), client, "shop", list).facts(list)
	for name, want := range map[string]string{
		"service db.shop": "ExternalName db.example.com", "service new.shop": "", "service ring.shop": "headless ready=0 publish-not-ready",
		"service six.shop": "ClusterIP fd00::6 ready=2 not-ready=1", "pod n-0.shop": "not-ready phase=Pending", "pod n-1.shop": "none", "pod n-2.shop": "none",
		"service x.gone": "none", "namespace gone": "none", "namespace ring": "none", "service n-0.ring": "none",
	} {
		f, there := facts[name]
		if !there || f.Value != want || (f.Unknown == "") != (want != "") {
			t.Errorf("%s: %+v (there %v), want %q", name, f, there, want)
		}
	}
	if facts["service new.shop"].Unknown != "it has no address yet" {
		t.Errorf("%+v", facts["service new.shop"])
	}
}

func TestServicesOfTheNamespaceThatMayNotBeListed(t *testing.T) {
	client := forbid(fake.NewClientset(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "ledger", Namespace: "shop"}, Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.1"},
	}), "list", "*")
	list := meanings([]string{"ledger", "gone"}, "shop")
	seen := readObjects(t.Context(), client, "shop", list)
	facts := seen.facts(list)
	f := facts["service ledger.shop"]
	if f.Value != "ClusterIP 10.0.0.1" || !strings.Contains(f.Source, "endpoints are not known: you may not list endpointslices in namespace shop; that permission would tell") {
		t.Errorf("%+v", f)
	}
	if got, known := facts.Service("ledger", "shop"); !known || !got.EndpointsUnknown {
		t.Errorf("%+v", got)
	}
	if f := facts["service gone.shop"]; f.Value != "none" {
		t.Errorf("%+v", f)
	}
	if seen.own.err == nil {
		t.Error("the list was read")
	}
}

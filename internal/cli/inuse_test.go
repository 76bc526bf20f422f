package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/cluster"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestNamesInUse(t *testing.T) {
	many := make([]string, 14)
	for i := range many {
		many[i] = fmt.Sprintf("h%02d.example", i)
	}
	for name, tt := range map[string]struct {
		environment        []string
		services           []string
		want, source, left string
	}{
		"nothing":      {want: "none", source: "0 from"},
		"both":         {environment: []string{"db.orders", "api.stripe.com", "ledger"}, services: []string{"web", "ledger", "auth"}, want: "db.orders ledger auth web", source: "2 of the 3 Services of namespace shop"},
		"few Services": {services: []string{"e", "d", "c", "b", "a"}, want: "a b c", source: "3 of the 5 Services"},
		"too many":     {environment: many, services: []string{"a"}, want: strings.Join(many[:10], " "), source: "too many: h10.example, h11.example, h12.example, h13.example"},
		"no name":      {environment: []string{"a..b", "ok"}, want: "ok", source: "1 from"},
	} {
		known := cluster.Known{Facts: fact.Facts{fact.Environment: {Value: fact.NamesText(tt.environment)}}, Services: tt.services}
		names, f := namesInUse(known, "shop", []string{"api.stripe.com"})
		if f.Value != tt.want || fact.NamesText(names) != tt.want || !strings.Contains(f.Source, tt.source) {
			t.Errorf("%s: %v, %+v", name, names, f)
		}
	}
}

func TestARunChecksWhatThePodUses(t *testing.T) {
	service := func(name string) runtime.Object {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"}, Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.1"}}
	}
	k, _ := fakeCluster(t, service("ledger"))
	run, _, err := inPod(t, k, "api.stripe.com")
	if err != nil {
		t.Fatal(err)
	}
	asked := func(run probe.Run) bool {
		return slices.ContainsFunc(run.Resolutions, func(r probe.Resolution) bool { return r.Host == "ledger" && r.Purpose == probe.PurposeAlso })
	}
	if run.Facts[fact.NamesInUse].Value != "ledger" || !asked(run) {
		t.Errorf("fact %+v, resolutions %+v", run.Facts[fact.NamesInUse], run.Resolutions)
	}
	// The facts that rules rest on are there, each with a value or a reason.
	for _, name := range []string{fact.DNSService, fact.NetworkPolicies, fact.Corefile, fact.NodeLocal, fact.Kernel, fact.ManagedBy, fact.Images, fact.ClusterDomain} {
		if f, there := run.Facts[name]; !there || (f.Value == "") == (f.Unknown == "") || f.Source == "" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

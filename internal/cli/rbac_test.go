package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	authv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/cluster"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/ephemeral"
)

const rbacPage = "../../docs/rbac.md"

// TestRBACPageIsCurrent makes the parts of docs/rbac.md that come from the code, and fails when the file has something else.
func TestRBACPageIsCurrent(t *testing.T) {
	text, err := os.ReadFile(rbacPage)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| permission | where | tells |\n|---|---|---|\n")
	for _, p := range cluster.Optional() {
		where := map[cluster.Scope]string{cluster.InPodNamespace: "the pod's namespace", cluster.InSystem: "`kube-system`", cluster.InDefault: "`default`", cluster.InCluster: "the cluster"}[p.Scope]
		what := p.Verb + " " + p.Resource
		if len(p.Names) > 0 {
			what += " (" + strings.Join(p.Names, ", ") + ")"
		}
		fmt.Fprintf(&table, "| %s | %s | %s |\n", what, where, p.Tells)
	}
	want := replacePart(t, string(text), "run", "```yaml\n"+ephemeral.Role("shop")+"```\n")
	want = replacePart(t, want, "facts", table.String())
	want = replacePart(t, want, "roles", "```yaml\n"+cluster.Roles("shop")+"```\n")
	if want == string(text) {
		return
	}
	if *updateReadme {
		if err := os.WriteFile(rbacPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("docs/rbac.md is not current; make it so: go generate ./internal/cli")
}

// denyFacts makes a cluster deny what facts need in the whole cluster.
func denyFacts(client *fake.Clientset) {
	client.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authv1.SelfSubjectAccessReview)
		review.Status.Allowed = review.Spec.ResourceAttributes.Namespace != ""
		return true, review, nil
	})
}

func TestPreflightSaysWhatPermissionsWouldTell(t *testing.T) {
	k, client := fakeCluster(t)
	denyFacts(client)
	var out bytes.Buffer
	if err := preflight(t.Context(), &out, k, "pod/payments-1", ephemeral.Request{Image: "agent:1"}); err != nil {
		t.Fatalf("facts are optional, but: %v", err)
	}
	for _, want := range []string{
		"fact         list networkpolicies in namespace shop           yes\n",
		"fact         get nodes                                        no, it would tell the kernel and the operating system of the pod's node\n",
		"--roles",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := printRoles(t.Context(), &out, k, "pod/payments-1"); err != nil || out.String() != ephemeral.Role("shop")+"---\n"+cluster.Roles("shop") {
		t.Errorf("%v, roles:\n%s", err, out.String())
	}
}

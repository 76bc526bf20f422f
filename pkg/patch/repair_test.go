package patch

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// judged is a run with these settings, in which the findings of these classes were made.
func judged(conf string, classes ...string) probe.Run {
	run := probe.Run{Settings: probe.Settings{Raw: conf, Ndots: 5}, Resolver: probe.Resolver{Libc: probe.Glibc, Version: "2.36"}, Target: probe.Target{Namespace: "shop"}}
	for line := range strings.Lines(conf) {
		words := strings.Fields(line)
		switch words[0] {
		case "nameserver":
			if len(run.Settings.Nameservers) < 3 {
				run.Settings.Nameservers = append(run.Settings.Nameservers, words[1])
			}
		case "search":
			run.Settings.Search = words[1:]
		}
	}
	for _, c := range classes {
		run.Findings = append(run.Findings, probe.Finding{Class: c})
	}
	return run
}

const clusterConf = "search ci.svc.cluster.local svc.cluster.local cluster.local Lab.Example.org\nnameserver 10.43.0.10\noptions ndots:5 edns0\n"

// described says what the changes are, one a line.
func described(list []Change) string {
	var b strings.Builder
	for _, c := range list {
		b.WriteString(c.Variant.Label())
		if c.Policy != "" {
			b.WriteString(" = " + c.Policy)
		}
		if c.Policy == PolicyNone {
			b.WriteString(" " + strings.Join(c.Nameservers, ",") + " / " + strings.Join(c.Searches, ","))
		}
		for _, o := range c.Options {
			b.WriteString(" " + o.Name)
			if o.Value != nil {
				b.WriteString(":" + *o.Value)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestRepairs(t *testing.T) {
	wild := walked("codehost.example", []string{"codehost.example.ci.svc.cluster.local", "codehost.example.lab.example.org"}, "203.0.113.80")
	wild.Attempts[1].Origin = probe.OriginSearch
	onMusl := probe.Resolution{Host: "catalog", Libc: probe.Musl, LibcVersion: "1.2.5", Outcome: probe.NXDomain}
	long := "search front.svc.cluster.local svc.cluster.local cluster.local"
	for _, n := range []string{"01", "02", "03", "04", "05", "06", "07"} {
		long += " team-" + n + ".apps.division.example.com"
	}
	stumbledOn := walked("mirror.example.net", []string{"mirror.example.net.cluster.local", "mirror.example.net.lab.example.org"}, "192.0.2.1")
	stumbledOn.Attempts[1].Origin, stumbledOn.Attempts[1].Outcome, stumbledOn.Outcome = probe.OriginSearch, probe.NoData, probe.NoData
	lost := probe.Resolution{Attempts: []probe.Attempt{{Queries: []probe.Query{{Transmissions: []probe.Transmission{
		{Server: "10.20.0.53:53", Reply: probe.ReplyLost}, {Server: "10.20.0.54:53", Reply: "NOERROR", Received: new(probe.Millis)},
	}}}}}}
	tests := map[string]struct {
		run         probe.Run
		host        probe.Resolution
		change      func(*probe.Run)
		first, last string
	}{
		"O03: without the wildcard, lower case, all options": {
			run: judged(clusterConf, "wildcard-search"), host: wild,
			first: "dnsPolicy None without Lab.Example.org = None 10.43.0.10 / ci.svc.cluster.local,svc.cluster.local,cluster.local ndots:5 edns0\n",
		},
		"O17: what musl reads of a long line": {
			run: judged(long+"\nnameserver 10.96.0.10\noptions ndots:5\n", "search-limit"), host: onMusl,
			first: "dnsPolicy None with 8 of 10 search domains = None 10.96.0.10 / " + strings.Join(strings.Fields(long)[1:9], ",") + " ndots:5\n",
		},
		"O18: without the dot": {
			run:   judged("search default.svc.cluster.local svc.cluster.local cluster.local .\nnameserver 10.96.0.10\noptions ndots:5\n", "resolvconf-invalid"),
			first: "dnsPolicy None without \".\" = None 10.96.0.10 / default.svc.cluster.local,svc.cluster.local,cluster.local ndots:5\n",
		},
		"O16: the one that was left out comes first": {
			run: judged("search node.example.com\nnameserver 10.8.0.53\nnameserver 10.8.0.54\nnameserver 203.0.113.53\n", "nameserver-limit"),
			change: func(r *probe.Run) {
				r.Facts = map[string]probe.Fact{fact.NodeResolvConf: {Value: "nameserver 10.8.0.53\nnameserver 10.9.0.53\n"}}
			},
			first: "dnsPolicy None with 10.9.0.53 first = None 10.9.0.53,10.8.0.53,10.8.0.54 / node.example.com\n",
		},
		"O29: without the dead one, else a shorter wait": {
			run:    judged("search node.example.com\nnameserver 10.20.0.53\nnameserver 10.20.0.54\noptions ndots:1\n", "dead-nameserver"),
			change: func(r *probe.Run) { r.Resolutions = []probe.Resolution{lost} },
			first:  "dnsPolicy None without nameserver 10.20.0.53 = None 10.20.0.54 / node.example.com ndots:1\ntimeout:1 timeout:1\n",
		},
		"O24: around the cache": {
			run:    judged("search checkout-web.svc.cluster.local svc.cluster.local cluster.local\nnameserver 169.254.20.10\noptions ndots:5\n", "nodelocal-blocked"),
			change: func(r *probe.Run) { r.Facts = map[string]probe.Fact{fact.DNSService: {Value: "10.96.0.10"}} },
			first:  "dnsPolicy None with nameserver 10.96.0.10 = None 10.96.0.10 / checkout-web.svc.cluster.local,svc.cluster.local,cluster.local ndots:5\n",
		},
		"O24 without the address of the cluster's DNS": {run: judged(clusterConf, "nodelocal-blocked")},
		"O09": {
			run:    judged("search node.example.com\nnameserver 10.1.0.2\noptions edns0\n", "wrong-dns-policy"),
			change: func(r *probe.Run) { r.Facts = map[string]probe.Fact{fact.DNSService: {Value: "10.96.0.10"}} },
			first:  "dnsPolicy ClusterFirstWithHostNet = ClusterFirstWithHostNet\n",
		},
		"a pod on its own network with the policy Default": {
			run: judged("search node.example.com\nnameserver 10.1.0.2\n", "wrong-dns-policy"),
			change: func(r *probe.Run) {
				r.Facts = map[string]probe.Fact{fact.DNSService: {Value: "10.96.0.10"}, fact.HostNetwork: {Value: "false"}}
			},
			first: "dnsPolicy ClusterFirst = ClusterFirst\n",
		},
		"O04: ndots first, then without the domain": {
			run: judged(clusterConf, "nodata-in-search"), host: stumbledOn,
			last: "dnsPolicy None without Lab.Example.org = None 10.43.0.10 / ci.svc.cluster.local,svc.cluster.local,cluster.local ndots:5 edns0\n",
		},
		"O05":                                {run: judged(clusterConf, "half-pair-loss"), host: probe.Resolution{Libc: probe.Glibc}, first: "single-request-reopen single-request-reopen\n"},
		"O06":                                {run: judged(clusterConf, "half-pair-loss"), host: onMusl, first: "timeout:5 attempts:10 timeout:5 attempts:10\n"},
		"the race in Go: two sockets anyway": {run: judged(clusterConf, "half-pair-loss"), host: probe.Resolution{Libc: probe.Go}},
		"O07":                                {run: judged(clusterConf, "aaaa-blackhole"), host: probe.Resolution{Libc: probe.Glibc}, first: "no-aaaa no-aaaa\ntimeout:1 timeout:1\n"},
		"O07 in Go":                          {run: judged(clusterConf, "aaaa-blackhole"), host: probe.Resolution{Libc: probe.Go}, first: "timeout:1 timeout:1\n"},
		"a cause outside of the pod":         {run: judged(clusterConf, "no-endpoints", "wildcard-search"), host: wild},
		"nothing to mend":                    {run: judged(clusterConf, "healthy"), host: wild},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.change != nil {
				tt.change(&tt.run)
			}
			got := RepairsOf(tt.run, []probe.Resolution{tt.host})
			if first := described(got.First); first != tt.first {
				t.Errorf("first\n%swant\n%s", first, tt.first)
			}
			if last := described(got.Last); last != tt.last {
				t.Errorf("last\n%swant\n%s", last, tt.last)
			}
			for _, c := range got.All() {
				if _, err := Build(deployment(nil), c, nil); err != nil {
					t.Errorf("%s: %v", c.Variant.Label(), err)
				}
			}
		})
	}
	if got := RepairsOf(judged(clusterConf, "no-endpoints", "wildcard-search"), []probe.Resolution{wild}); got.Hopeless != "no-endpoints" {
		t.Errorf("hopeless: %q", got.Hopeless)
	}
}

func TestLimitsOfDNSConfig(t *testing.T) {
	many := func(n int, s string) []string {
		var out []string
		for range n {
			out = append(out, s)
		}
		return out
	}
	tests := map[string]struct {
		change Change
		want   string
	}{
		"no nameserver":         {Change{Policy: PolicyNone}, "needs a nameserver"},
		"four nameservers":      {Change{Policy: PolicyNone, Nameservers: many(4, "10.0.0.1")}, "at most 3"},
		"33 search domains":     {Change{Policy: PolicyNone, Nameservers: many(1, "10.0.0.1"), Searches: many(33, "a.example")}, "at most 32"},
		"2,049 characters":      {Change{Policy: PolicyNone, Nameservers: many(1, "10.0.0.1"), Searches: many(32, strings.Repeat("a", 61)+".ex")}, "at most 2048"},
		"a lone dot":            {Change{Policy: PolicyNone, Nameservers: many(1, "10.0.0.1"), Searches: []string{"."}}, "none that the API server accepts"},
		"a name for an address": {Change{Policy: PolicyNone, Nameservers: []string{"dns.example"}}, "no address"},
		"all is well":           {Change{Policy: PolicyNone, Nameservers: many(3, "10.0.0.1"), Searches: many(32, "a.example.")}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Build(deployment(nil), tt.change, nil)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestPolicyNoneIsTakenBack has an owner without a history: its undo has to write what was there.
func TestPolicyNoneIsTakenBack(t *testing.T) {
	w := Workload{
		Owner: probe.Owner{APIVersion: "batch/v1", Kind: "CronJob", Name: "bill"}, DNSPolicy: "ClusterFirst",
		DNSConfig: &DNSConfig{Searches: []string{"corp.example"}, Options: []Option{{Name: "edns0"}}},
	}
	c := Change{Policy: PolicyNone, Nameservers: []string{"10.0.0.1"}, Searches: []string{"a.example"}, Options: []Option{{Name: "ndots", Value: value("5")}}}
	p, err := Build(w, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"dnsConfig":{"nameservers":null,"options":[{"name":"edns0"}],"searches":["corp.example"]},"dnsPolicy":"ClusterFirst"}`; !strings.Contains(p.Undo, want) {
		t.Errorf("undo %s\nwant %s", p.Undo, want)
	}
	for _, line := range []string{"-                 - corp.example", "+                 - a.example", "-             dnsPolicy: ClusterFirst", "+             dnsPolicy: None"} {
		if !strings.Contains(p.Diff, line[:1]+" ") || !strings.Contains(strings.Join(strings.Fields(p.Diff), " "), strings.Join(strings.Fields(line), " ")) {
			t.Errorf("%q is missing in\n%s", line, p.Diff)
		}
	}
}

// TestEveryLibcOfThePodCounts: what is fine on the run's libc can break another container.
func TestEveryLibcOfThePodCounts(t *testing.T) {
	withSvc := walked("ledger.billing.svc", []string{"ledger.billing.svc.shop.svc.cluster.local", "ledger.billing.svc.cluster.local"}, "10.96.44.7")
	onMusl := walked("ledger.billing.svc", []string{"ledger.billing.svc"})
	s := situation(5, []probe.Resolution{stripe}, []probe.Resolution{withSvc})
	s.Others = []Other{{Libc: probe.Resolver{Libc: probe.Musl, Version: "1.2.5"}, Before: map[string]probe.Resolution{stripe.Host: stripe, withSvc.Host: withSvc}}}
	two, three := after(2, stripeAsIs, withSvc), after(3, stripe, withSvc)
	two.Others = []map[string]probe.Resolution{{stripe.Host: stripeAsIs, withSvc.Host: onMusl}}
	three.Others = []map[string]probe.Resolution{{stripe.Host: stripe, withSvc.Host: withSvc}}
	if got, ok := Choose(s, []Candidate{two, three}); ok {
		t.Errorf("chose %d, which breaks a name on musl or saves nothing", got.Ndots)
	}
	two.Others[0][withSvc.Host] = withSvc
	if got, ok := Choose(s, []Candidate{two, three}); !ok || got.Ndots != 2 {
		t.Errorf("chose %d, %v", got.Ndots, ok)
	}
	names := s.Names(two)
	if len(names[1].Libcs) != 1 || names[1].Libcs[0].Libc != probe.Musl || !names[1].Libcs[0].Same {
		t.Errorf("%+v", names[1])
	}
	// What was never tried there is not known to be fine.
	delete(two.Others[0], withSvc.Host)
	if _, ok := Choose(s, []Candidate{two}); ok {
		t.Error("chose what was not tried on musl")
	}
}

func TestManaged(t *testing.T) {
	for by, want := range map[string]string{
		"Helm release payments":                                "Helm release payments manages this Deployment: a rollback, or an upgrade that sets its dnsConfig, will take the change back.",
		"Argo CD application shop":                             "in the repository that it follows",
		"the controller of Rollout web (argoproj.io/v1alpha1)": "will take the change back. To last it has to be made there.",
	} {
		if got := Managed("Deployment", by); !strings.Contains(got, want) {
			t.Errorf("%q", got)
		}
	}
}

func TestKustomization(t *testing.T) {
	got, err := Kustomization(build(t, deployment(nil), 2))
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
patches:
- patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: payments
    spec:
      template:
        spec:
          dnsConfig:
            options:
            - name: ndots
              value: "2"
  target:
    group: apps
    kind: Deployment
    name: payments
    version: v1
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if got := Document(build(t, deployment(nil), 2)); !strings.HasPrefix(got, "# Strategic merge patch of Deployment shop/payments: ndots:2\n# Apply it: kubectl -n shop patch deployment payments --type strategic --patch-file FILE\n# Take it back: kubectl -n shop rollout undo deployment/payments\nspec:\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestCompareShowsWhatTheServerMadeOfIt(t *testing.T) {
	before, after := deployment(nil), deployment(&DNSConfig{Options: []Option{{Name: "ndots", Value: value("2")}}})
	before.DNSPolicy, after.DNSPolicy = "ClusterFirst", "ClusterFirst"
	got, err := Compare(before, after)
	if err != nil || !strings.Contains(got, "+         - name: ndots\n") || strings.Contains(got, "+       dnsPolicy") {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := Compare(after, after); err != nil || got != "" {
		t.Errorf("no difference: %v\n%s", err, got)
	}
}

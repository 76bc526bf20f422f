package fact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const stockCorefile = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa { # the cluster
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
}
`

func TestCorefile(t *testing.T) {
	blocks, known := Facts{Corefile: {Value: stockCorefile}}.Corefile(Corefile)
	if !known || len(blocks) != 1 {
		t.Fatalf("%d blocks, known %v", len(blocks), known)
	}
	forward := blocks[0].Named("forward")
	if len(forward) != 1 {
		t.Fatalf("forward: %+v", forward)
	}
	most, found := forward[0].Option("max_concurrent")
	if !found || cmp.Diff([]string{"1000"}, most) != "" || cmp.Diff([]string{".", "/etc/resolv.conf"}, forward[0].Args) != "" {
		t.Errorf("forward: %+v", forward)
	}
	if _, found := forward[0].Option("force_tcp"); found {
		t.Error("an option that is not there was found")
	}
	for name, f := range map[string]Facts{"unknown": {Corefile: {Unknown: "no"}}, "none": {Corefile: {Value: None}}, "nothing": {}} {
		if blocks, known := f.Corefile(Corefile); known || blocks != nil {
			t.Errorf("%s: %v", name, blocks)
		}
	}
}

func TestParseCorefile(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []ServerBlock
	}{
		"several zones over several lines": {
			"a.example,\nb.example c.example:5353 {\n  forward . 192.0.2.1\n}\n",
			[]ServerBlock{{Zones: []string{"a.example", "b.example", "c.example:5353"}, Plugins: []Plugin{{Name: "forward", Args: []string{".", "192.0.2.1"}}}}},
		},
		"a brace on its own line": {
			".\n{\n  errors\n}\n", []ServerBlock{{Zones: []string{"."}, Plugins: []Plugin{{Name: "errors", Args: []string{}}}}},
		},
		"a snippet": {
			"(snip) {\n  cache 30\n  log\n}\n. {\n  import snip\n  import /etc/more/*.override\n}\n",
			[]ServerBlock{{Zones: []string{"."}, Plugins: []Plugin{
				{Name: "cache", Args: []string{"30"}}, {Name: "log", Args: []string{}}, {Name: "import", Args: []string{"/etc/more/*.override"}},
			}}},
		},
		"a block in a block": {
			". {\n  template ANY ANY {\n    answer {\n      deeper\n    }\n    rcode NXDOMAIN\n  }\n}\n",
			[]ServerBlock{{Zones: []string{"."}, Plugins: []Plugin{
				{Name: "template", Args: []string{"ANY", "ANY"}, Block: [][]string{{"answer"}, {"rcode", "NXDOMAIN"}}},
			}}},
		},
		"a brace before anything":   {"{\nx\n}", []ServerBlock{{Plugins: []Plugin{{Name: "x", Args: []string{}}}}}},
		"braces that close nothing": {"}\n}\n. {\nlog\n}", []ServerBlock{{Zones: []string{"."}, Plugins: []Plugin{{Name: "log", Args: []string{}}}}}},
		"nothing":                   {"\n# no\n", nil},
	} {
		if diff := cmp.Diff(tt.want, ParseCorefile(tt.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestZoneOfCluster(t *testing.T) {
	for text, want := range map[string]string{
		stockCorefile: "cluster.local",
		". {\n kubernetes in-addr.arpa k8s.example. {\n }\n}": "k8s.example",
		"corp.internal:53 {\n kubernetes\n}":                  "",
		"corp.internal {\n kubernetes\n}":                     "corp.internal",
		". {\n forward . 192.0.2.1\n}":                        "",
		". {\n kubernetes {$CLUSTER_DOMAIN}\n}":               "",
	} {
		if got := ZoneOfCluster(ParseCorefile(text)); got != want {
			t.Errorf("%q: zone %q, want %q", text, got, want)
		}
	}
}

func TestSnippetsDoNotGrowWithoutBound(t *testing.T) {
	text := "(s) {\n" + strings.Repeat("log\n", 500) + "}\n. {\n" + strings.Repeat("import s\n", 500) + "}\n"
	blocks := ParseCorefile(text)
	if n := len(blocks[0].Plugins); n < maxPlugins || n > maxPlugins+500 {
		t.Errorf("%d plugins", n)
	}
}

package diagnose

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// silentDomain is a resolution whose name in the cloud's search domain gets no reply.
func silentDomain(id string) trace {
	quiet := []message{lost(), lost()}
	return trace{id: id, host: "api.stripe.com", outcome: probe.OK, tries: []try{
		denied("api.stripe.com.svc.cluster.local.", 1, ms),
		{name: "api.stripe.com.ec2.internal.", search: 3, outcome: probe.Timeout, a: quiet, aaaa: quiet},
		pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms)),
	}}
}

func TestTimeoutInSearchTakesThreeResolutions(t *testing.T) {
	two := Diagnose(input(kubernetes(5), silentDomain("1"), silentDomain("2")))
	if classes(two) != "search-walk" {
		t.Errorf("two samples: %s", told(two))
	}
	three := Diagnose(input(kubernetes(5), silentDomain("1"), silentDomain("2"), silentDomain("3")))
	if classes(three) != "timeout-in-search search-walk" {
		t.Fatal(told(three))
	}
	f := three[0]
	if f.Title != "api.stripe.com.ec2.internal. gets no reply from search domain 4 of 4, api.stripe.com resolves all the same after 10.00 s." {
		t.Error(f.Title)
	}
	if f.Evidence[0].Text != "api.stripe.com.ec2.internal.: 0 replies to 12 messages in 3 resolutions, other names answered in each" {
		t.Error(f.Evidence[0].Text)
	}
	// "cannot succeed" is not known of a name that nobody spoke about.
	if !strings.HasPrefix(three[1].Title, "2 of 6 queries cannot succeed") {
		t.Error(three[1].Title)
	}
}

func TestTimeoutInSearchNeedsTheOthersAnswered(t *testing.T) {
	tests := map[string]func(*trace){
		// O14: a dead backend takes any name.
		"another name is silent once": func(tr *trace) {
			tr.tries[2] = try{name: "api.stripe.com.", search: -1, outcome: probe.Timeout, a: []message{lost()}, aaaa: []message{lost()}}
		},
		"the name is answered once": func(tr *trace) { tr.tries[1] = denied(tr.tries[1].name, 3, ms) },
		"nothing else was asked":    func(tr *trace) { tr.tries = tr.tries[1:2] },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			third := silentDomain("3")
			change(&third)
			if got := classes(Diagnose(input(kubernetes(5), silentDomain("1"), silentDomain("2"), third))); strings.Contains(got, "timeout") {
				t.Errorf("found %q", got)
			}
		})
	}
}

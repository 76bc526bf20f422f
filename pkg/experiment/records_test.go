package experiment

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestAnswersOfOtherRecordsAreNotModelled(t *testing.T) {
	for _, typ := range []string{"TXT", "SRV"} {
		if _, ok := records([]probe.Answer{{Name: "x.", Type: typ, TTL: 5, Data: "y"}}); ok {
			t.Errorf("a %s record is modelled as none", typ)
		}
	}
}

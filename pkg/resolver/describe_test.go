package resolver

import (
	"strings"
	"testing"
)

func TestNamesOfNumbers(t *testing.T) {
	for got, want := range map[string]string{
		rcodeName(0): "NOERROR", rcodeName(9): "NOTAUTH", rcodeName(15): "RCODE15", rcodeName(-1): "RCODE-1",
		typeName(1): "A", typeName(28): "AAAA", typeName(5): "CNAME", typeName(39): "DNAME", typeName(6): "SOA", typeName(65): "TYPE65",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	many := make([]Record, 4096)
	for i := range many {
		many[i] = Record{Name: strings.Repeat("x", 1000), Type: 16, Data: strings.Repeat("y", 500)}
	}
	bytes := 0
	got := answers(many)
	for _, a := range got {
		bytes += len(a.Name) + len(a.Data)
	}
	if len(got) > maxAnswers || bytes > maxAnswerBytes || len(got) == 0 {
		t.Errorf("%d answers with %d bytes", len(got), bytes)
	}
}

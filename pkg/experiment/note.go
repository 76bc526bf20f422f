package experiment

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// dotNote is what has to stand beside every final dot.
const dotNote = "only as a test: breaks TLS names in some clients"

// note says what a variant does besides what its row shows, above all to the other names in use.
func (t *Table) note(host, r probe.Resolution, v probe.Variant) string {
	if v.TrailingDot {
		return dotNote
	}
	var notes, fine, unknown []string
	measured := true
	for _, also := range t.Also {
		name := printable.Text(also.Host, maxName)
		after, known := t.Resolution(also.Host, v.Label())
		switch effect := t.effect(also, after); {
		case !known:
			unknown = append(unknown, name)
		case effect != "":
			notes = append(notes, name+": "+effect)
		default:
			fine = append(fine, name)
			measured = measured && t.IsMeasured(also.Host, v.Label())
		}
	}
	if len(fine) > 0 {
		verb := "unchanged"
		if measured {
			verb = "checked: same answer"
		}
		notes = append(notes, strings.Join(fine, ", ")+" "+verb)
	}
	if len(unknown) > 0 {
		notes = append(notes, strings.Join(unknown, ", ")+" not tried yet")
	}
	if r.Outcome == probe.OK && Same(host, r) && !sameSet(host.Addresses, r.Addresses) {
		notes = append(notes, "other addresses of the same name")
	}
	return printable.Text(strings.Join(notes, "; "), printable.MaxText)
}

// maxName bounds a name in a note, in bytes.
const maxName = 253

// effect says what a variant changes for another name in use, empty when nothing.
func (t *Table) effect(before, after probe.Resolution) string {
	switch {
	case before.Outcome == probe.OK && after.Outcome != probe.OK:
		return "breaks (" + string(after.Outcome) + ")"
	case !Same(before, after) && after.Outcome == probe.OK && before.Outcome == probe.OK:
		return "gets another address"
	case !Same(before, after):
		return fmt.Sprintf("%s instead of %s", after.Outcome, before.Outcome)
	}
	var words []string
	switch more := after.QueriesSent - before.QueriesSent; {
	case more == 1:
		words = append(words, "one more query")
	case more > 1:
		words = append(words, fmt.Sprintf("%d more queries", more))
	case more < 0:
		words = append(words, fmt.Sprintf("%d → %d queries", before.QueriesSent, after.QueriesSent))
	}
	if t.Zone != "" && outside(after, t.Zone) > outside(before, t.Zone) {
		words = append(words, "leaves the cluster")
	}
	return strings.Join(words, ", ")
}

// outside counts the attempts of r that were asked about a name outside of zone.
func outside(r probe.Resolution, zone string) int {
	n := 0
	for _, a := range r.Attempts {
		if len(a.Queries) > 0 && !probe.InZone(a.Name, zone) {
			n++
		}
	}
	return n
}

package fact

import (
	"fmt"
	"strconv"
	"strings"
)

// Table is the conntrack table of the pod's node: "262101 of 262144" entries, or "full" where only that is known, as from the event
// ConntrackFull of the node problem detector.
type Table struct {
	// Entries and Most are 0 where only Said is known.
	Entries, Most int
	// Said is set where somebody said that the table is full.
	Said bool
}

// Full says whether a new flow finds no room, or next to none: within 1 in 100, since entries come and go.
func (t Table) Full() bool { return t.Said || t.Most > 0 && t.Entries >= t.Most-t.Most/100 }

// String writes t as Facts.ConntrackTable reads it.
func (t Table) String() string {
	if t.Most == 0 && t.Said {
		return "full"
	}
	return fmt.Sprintf("%d of %d", t.Entries, t.Most)
}

// ConntrackTable returns what the fact Conntrack says; known is false when nobody knows.
func (f Facts) ConntrackTable() (t Table, known bool) {
	text, known := f.Text(Conntrack)
	if !known {
		return Table{}, false
	}
	words := strings.Fields(text)
	if len(words) > 0 && words[0] == "full" {
		return Table{Said: true}, true
	}
	if len(words) != 3 || words[1] != "of" {
		return Table{}, false
	}
	entries, err := strconv.Atoi(words[0])
	if err != nil || entries < 0 {
		return Table{}, false
	}
	most, err := strconv.Atoi(words[2])
	return Table{Entries: entries, Most: most}, err == nil && most > 0
}

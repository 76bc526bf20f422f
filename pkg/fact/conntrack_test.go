package fact

import "testing"

func TestConntrackTable(t *testing.T) {
	for text, want := range map[string]struct {
		known, full bool
	}{
		"262144 of 262144":   {true, true},
		"262000 of 262144":   {true, true},
		"1200 of 262144":     {true, false},
		"full":               {true, true},
		"full (event)":       {true, true},
		"5 of 0":             {},
		"-5 of 10":           {},
		"5 of x":             {},
		"5/10":               {},
		"many":               {},
		"10 of 10 and so on": {},
	} {
		table, known := Facts{Conntrack: {Value: text}}.ConntrackTable()
		if known != want.known || table.Full() != want.full {
			t.Errorf("%q: known %v, full %v, want %+v", text, known, table.Full(), want)
		}
		if !known {
			continue
		}
		if again, _ := (Facts{Conntrack: {Value: table.String()}}).ConntrackTable(); again != table {
			t.Errorf("%q is written as %q and read as %+v", text, table.String(), again)
		}
	}
	if _, known := (Facts{Conntrack: {Unknown: "no"}}).ConntrackTable(); known {
		t.Error("an unknown fact is known")
	}
}

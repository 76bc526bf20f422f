package probe

import (
	"encoding/json"
	"testing"
	"time"
)

func TestMillisJSON(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   time.Duration
		want string
	}{
		{"zero", 0, "0"},
		{"fraction kept to a microsecond", 47*time.Millisecond + 234*time.Microsecond + 567, "47.235"},
		{"glibc's timeout", 5 * time.Second, "5000"},
		{"before the start", -1500 * time.Microsecond, "-1.5"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := json.Marshal(Millis(tc.in))
			if err != nil || string(got) != tc.want {
				t.Fatalf("marshal %v: got %s, %v, want %s", tc.in, got, err, tc.want)
			}
			var back Millis
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			if d := back.Duration() - tc.in; d > time.Microsecond || d < -time.Microsecond {
				t.Errorf("read back %v, want %v", back.Duration(), tc.in)
			}
		})
	}
}

func TestMillisRefusesWhatNoDurationHolds(t *testing.T) {
	for _, in := range []string{"1e300", "-1e300", `"5"`, "[]"} {
		var m Millis
		if err := json.Unmarshal([]byte(in), &m); err == nil {
			t.Errorf("read %s as %v, want an error", in, m.Duration())
		}
	}
}

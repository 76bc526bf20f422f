package probe

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Millis is a duration that JSON shows as milliseconds with a fraction (microsecond resolution), the unit in which
// people read DNS times.
type Millis time.Duration

// Duration returns m as a time.Duration.
func (m Millis) Duration() time.Duration { return time.Duration(m) }

// Milliseconds returns m in milliseconds.
func (m Millis) Milliseconds() float64 { return float64(m) / float64(time.Millisecond) }

// MarshalJSON writes milliseconds rounded to a microsecond.
func (m Millis) MarshalJSON() ([]byte, error) {
	return json.Marshal(math.Round(float64(m)/float64(time.Microsecond)) / 1000)
}

// UnmarshalJSON reads milliseconds. Values that no duration can hold are refused.
func (m *Millis) UnmarshalJSON(data []byte) error {
	var ms float64
	if err := json.Unmarshal(data, &ms); err != nil {
		return err
	}
	const most = float64(math.MaxInt64) / float64(time.Millisecond)
	if math.IsNaN(ms) || ms >= most || ms <= -most {
		return fmt.Errorf("read a time in milliseconds: %v is out of range", ms)
	}
	*m = Millis(math.Round(ms * float64(time.Millisecond)))
	return nil
}

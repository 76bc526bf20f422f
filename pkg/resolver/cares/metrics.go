package cares

import "time"

// Bounds of a timeout learned from latencies, in milliseconds (ares_metrics.c).
const (
	minTimeout     = 250
	maxTimeout     = 5000
	latencyFactor  = 5
	minLatencies   = 3
	sinceInception = 0
)

// spans are the lengths of the buckets in seconds, shortest first.
var spans = [...]int64{60, 15 * 60, 60 * 60, 24 * 60 * 60, sinceInception}

// metrics are the latencies of a server's good replies.
type metrics [len(spans)]struct{ current, previous bucket }

type bucket struct {
	stamp, totalMillis, count int64
}

// stamps returns what marks the current bucket of a span and the one before.
func stamps(span, now int64) (current, previous int64) {
	if span == sinceInception {
		return 1, 0
	}
	if span >= now {
		return now / span, 0
	}
	return now / span, (now - span) / span
}

// record follows ares_metrics_record.
func (m *metrics) record(now time.Time, latency time.Duration) {
	millis := max(latency.Milliseconds(), 1)
	for i := range m {
		b := &m[i]
		if stamp, _ := stamps(spans[i], now.Unix()); stamp != b.current.stamp {
			b.previous, b.current = b.current, bucket{stamp: stamp}
		}
		b.current.count++
		b.current.totalMillis += millis
	}
}

// timeout follows ares_metrics_server_timeout: five times the average latency, once three replies are known.
func (m *metrics) timeout(now time.Time, configured int) time.Duration {
	millis := int64(0)
	for i := range m {
		b := &m[i]
		current, previous := stamps(spans[i], now.Unix())
		switch {
		case b.current.stamp == current && b.current.count >= minLatencies:
			millis = b.current.totalMillis / b.current.count * latencyFactor
		case b.previous.stamp == previous && b.previous.count >= minLatencies:
			millis = b.previous.totalMillis / b.previous.count * latencyFactor
		default:
			continue
		}
		break
	}
	if millis == 0 {
		millis = int64(configured)
	}
	return time.Duration(min(max(millis, minTimeout), maxTimeout)) * time.Millisecond
}

package session

import "fmt"

// ProtocolError says that the two sides speak different protocols.
type ProtocolError struct {
	// Asked is the client's protocol, Spoken the hub's.
	Asked, Spoken int
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("the plugin speaks protocol %d, the agent protocol %d: use the same version of both", e.Asked, e.Spoken)
}

// RefusedError is the hub's refusal, in its own words: of a client, or of one request.
type RefusedError struct {
	// What was asked for ("join the session", "resolve api.example.com").
	What string
	// Reason is the hub's. It comes from the other side of the stream: print it only made safe.
	Reason string
}

func (e *RefusedError) Error() string { return e.What + ": the agent says: " + e.Reason }

// CutError says that the stream ended before what was waited for had come. What was seen until then stays valid; a client
// that dials again with the same Session and After goes on where it was.
type CutError struct {
	// Doing is what was waited for.
	Doing string
	// Reason is the hub's when it closed in good order ("nobody was attached for 15m0s"), empty when the stream broke.
	Reason string
	// Err is the stream's error, nil when the hub closed in good order.
	Err error
}

func (e *CutError) Error() string {
	switch {
	case e.Reason != "":
		return e.Doing + ": the session ended: " + e.Reason
	case e.Err != nil:
		return e.Doing + ": the connection to the agent was cut: " + e.Err.Error()
	}
	return e.Doing + ": the connection to the agent was cut"
}

func (e *CutError) Unwrap() error { return e.Err }

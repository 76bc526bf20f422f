package probe

import (
	"fmt"
	"time"
)

// Question asks one server one thing directly, as no libc does: a verdict can hang on what a server says that the target's
// resolver never asks, or over another transport.
type Question struct {
	// Server is the server's IP address; its port is 53.
	Server string `json:"server"`
	// Transport is UDP or TCP; empty means UDP. A truncated reply stays as it is.
	Transport Transport `json:"transport,omitempty"`
	// EDNSSize is the payload size of the OPT record (RFC 6891); 0 sends none.
	EDNSSize uint16 `json:"ednsSize,omitempty"`
	// Tries is how often a message is sent, 0 means QuestionTries.
	Tries int `json:"tries,omitempty"`
}

// QuestionTries and QuestionTimeout bound what a question costs: a reply that takes longer is no reply for most callers either.
const (
	QuestionTries   = 2
	QuestionTimeout = time.Second
)

// Label is the variant under which a question stands in traces.
func (q Question) Label() string {
	text := "at " + q.Server
	if q.Transport == TCP {
		text += " over TCP"
	}
	if q.EDNSSize != 0 {
		text += fmt.Sprintf(" with EDNS0 (%d bytes)", q.EDNSSize)
	}
	return text
}

// AskOf returns the ask of a question about a name, which is taken as fully qualified.
func (q Question) AskOf(name string, types ...QueryType) Ask {
	return Ask{Host: name, Question: &q, Variant: Variant{Name: q.Label()}, Purpose: PurposeTest, Types: types}
}

// MostSent is how many messages an ask can cost, 0 when only its settings tell.
func (a Ask) MostSent() int {
	if a.Question == nil {
		return 0
	}
	tries, types := a.Question.Tries, len(a.Types)
	if tries <= 0 {
		tries = QuestionTries
	}
	if types == 0 {
		types = 2
	}
	return tries * types
}

// Package session is the shared session between people and the probe's container in a pod: the hub in the container, the
// client outside, and the one protocol between them.
//
// The protocol is NDJSON over any byte stream (an exec of `dnsprobe-agent attach`, a Unix socket inside the container). A
// session has one hub and any number of clients. Every event goes to every client; a client that comes later gets the
// history first. Readers skip message types and fields that they do not know, so that versions can differ.
package session

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"

// Protocol is the version of the protocol. It grows only when an old reader would misunderstand a new writer; additions that
// an old reader may skip do not change it.
const Protocol = 1

// Type tells what a Message carries.
type Type string

// The types of messages.
const (
	// TypeHello opens the stream in both directions: Message.Hello.
	TypeHello Type = "hello"
	// TypeResolve asks the hub for a resolution: Message.Resolve.
	TypeResolve Type = "resolve"
	// TypeCancel stops the resolution Message.ID.
	TypeCancel Type = "cancel"
	// TypeRead asks the hub to read the target's settings again; the hub answers with events.
	TypeRead Type = "read"
	// TypeEvent carries an event from the hub: Message.Event.
	TypeEvent Type = "event"
	// TypeDone tells all that the request Message.ID has ended; Message.Error is set when it could not be carried out.
	TypeDone Type = "done"
	// TypeJoined and TypeLeft tell who is there: Message.Person.
	TypeJoined Type = "joined"
	TypeLeft   Type = "left"
	// TypePing asks for TypePong with the same ID, so that both sides notice a dead stream.
	TypePing Type = "ping"
	TypePong Type = "pong"
	// TypeShutdown asks the hub to end.
	TypeShutdown Type = "shutdown"
	// TypeBye closes the stream in good order: Message.Reason.
	TypeBye Type = "bye"
	// TypeError reports a message that could not be understood or carried out: Message.Error.
	TypeError Type = "error"
)

// Message is one line of the protocol.
type Message struct {
	Type Type `json:"type"`
	// ID names a request; it is chosen by the client that makes it and unique in its session ("alice-3").
	ID      string       `json:"id,omitempty"`
	Hello   *Hello       `json:"hello,omitempty"`
	Resolve *probe.Ask   `json:"resolve,omitempty"`
	Event   *probe.Event `json:"event,omitempty"`
	Person  *Person      `json:"person,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	Error   string       `json:"error,omitempty"`
}

// Hello tells the other side who is speaking.
type Hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
	// Name is the client's user name, for the others in the session. It is shown, never trusted.
	Name string `json:"name,omitempty"`
	// Session identifies the hub's life: a client that reconnects sees whether its history is still the same.
	Session string `json:"session,omitempty"`
	// You is the id of the person that the client is to the others.
	You string `json:"you,omitempty"`
	// People are those already in the session.
	People []Person `json:"people,omitempty"`
	// History is how many events of history follow before anything live.
	History int `json:"history,omitempty"`
	// After asks the hub to send only history after this Seq, for a client that reconnects.
	After int64 `json:"after,omitempty"`
	// NoHistory asks the hub to send no history at all, for a client that wants to know only what it asks for: up to 2 MiB of it
	// would come before the first answer. A hub that does not know the field sends it all the same, and says so in History.
	NoHistory bool `json:"noHistory,omitempty"`
}

// Person is somebody in the session.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

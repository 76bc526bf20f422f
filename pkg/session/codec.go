package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// MaxRequest bounds a line from a client to the hub in bytes: an ask is a name and a few words.
const MaxRequest = 64 << 10

// MaxMessage bounds a line from the hub to a client in bytes: an event and the envelope around it.
const MaxMessage = probe.MaxLine + 4<<10

// ErrTooLong is returned for a line over the reader's bound. The stream cannot be read any further.
var ErrTooLong = errors.New("message over the size bound")

// MalformedError is a line that is no message. The lines after it can still be read.
type MalformedError struct {
	// Line counts the lines of the stream from 1.
	Line int
	// Start is how the line begins, quoted so that it is safe to print.
	Start string
	Err   error
}

func (e *MalformedError) Error() string {
	return fmt.Sprintf("read message on line %d, which starts with %s: %v", e.Line, e.Start, e.Err)
}

func (e *MalformedError) Unwrap() error { return e.Err }

// encode returns m as one line.
func encode(m Message) ([]byte, error) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("encode %s message: %w", m.Type, err)
	}
	return line.Bytes(), nil
}

// Decoder reads messages from a stream.
type Decoder struct {
	lines *bufio.Scanner
	limit int
	n     int
}

// NewDecoder returns a Decoder that refuses lines over limit bytes.
func NewDecoder(r io.Reader, limit int) *Decoder {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, min(4<<10, limit)), limit)
	return &Decoder{lines: s, limit: limit}
}

// Decode reads the next message. Empty lines are skipped. A message of a type that this version does not know is returned
// with its type alone, whatever else it carries. Errors: io.EOF at the end of the stream, a *MalformedError for a line that
// is no message (the next call goes on after it), ErrTooLong, or the stream's own.
func (d *Decoder) Decode() (Message, error) {
	for d.lines.Scan() {
		d.n++
		line := bytes.TrimSpace(d.lines.Bytes())
		if len(line) == 0 {
			continue
		}
		m, err := decode(line)
		if err != nil {
			return Message{}, &MalformedError{Line: d.n, Start: quoteStart(line), Err: err}
		}
		return m, nil
	}
	switch err := d.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return Message{}, fmt.Errorf("read message on line %d: %w of %d bytes", d.n+1, ErrTooLong, d.limit)
	case err != nil:
		return Message{}, err
	}
	return Message{}, io.EOF
}

// decode reads one line. A later version may give a field of ours another form in a message of its own, so a line that
// does not fit is only malformed when its type is one of ours.
func decode(line []byte) (Message, error) {
	var m Message
	err := json.Unmarshal(line, &m)
	if err != nil {
		var envelope struct {
			Type Type `json:"type"`
		}
		if json.Unmarshal(line, &envelope) != nil || known(envelope.Type) {
			return Message{}, err
		}
		return Message{Type: envelope.Type}, nil
	}
	if m.Type == "" {
		return Message{}, errors.New(`it has no "type" field`)
	}
	if !known(m.Type) {
		return Message{Type: m.Type}, nil
	}
	return m, nil
}

func known(t Type) bool {
	switch t {
	case "", TypeHello, TypeResolve, TypeCancel, TypeRead, TypeEvent, TypeDone, TypeJoined, TypeLeft, TypePing, TypePong,
		TypeShutdown, TypeBye, TypeError:
		return true
	}
	return false
}

// quoteStart quotes the start of hostile bytes for an error message.
func quoteStart(line []byte) string {
	const most = 60
	if len(line) > most {
		return fmt.Sprintf("%q...", line[:most])
	}
	return fmt.Sprintf("%q", line)
}

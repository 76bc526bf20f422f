package probe

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxLine bounds one line of an event stream in bytes. A resolv.conf, the largest thing an event carries, is bounded far
// below it.
const MaxLine = 1 << 20

// ErrLineTooLong is returned for a line over MaxLine.
var ErrLineTooLong = fmt.Errorf("line over %d bytes", MaxLine)

// Encoder writes events as NDJSON, one write call a line.
type Encoder struct{ w io.Writer }

// NewEncoder returns an Encoder that writes to w.
func NewEncoder(w io.Writer) *Encoder { return &Encoder{w: w} }

// Encode writes one event.
func (e *Encoder) Encode(ev Event) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(ev); err != nil {
		return fmt.Errorf("encode %s event: %w", ev.Kind, err)
	}
	_, err := e.w.Write(line.Bytes())
	return err
}

// Decoder reads events from NDJSON.
type Decoder struct {
	lines *bufio.Scanner
	n     int
}

// NewDecoder returns a Decoder that reads from r.
func NewDecoder(r io.Reader) *Decoder {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64*1024), MaxLine)
	return &Decoder{lines: s}
}

// Decode reads the next event. It returns io.EOF at the end of the stream; a broken line is an error with its number.
// Empty lines are skipped. Events of a kind that this version does not know are returned as they are: Fold skips them.
func (d *Decoder) Decode() (Event, error) {
	for d.lines.Scan() {
		d.n++
		line := bytes.TrimSpace(d.lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var ev Event
		if err := json.Unmarshal(line, &ev); err != nil {
			return Event{}, fmt.Errorf("read event on line %d: %w", d.n, err)
		}
		if ev.Kind == "" {
			return Event{}, fmt.Errorf("read event on line %d: it has no \"event\" field", d.n)
		}
		return ev, nil
	}
	switch err := d.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return Event{}, fmt.Errorf("read event on line %d: %w", d.n+1, ErrLineTooLong)
	case err != nil:
		return Event{}, err
	}
	return Event{}, io.EOF
}

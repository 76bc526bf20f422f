package probe

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
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

// Encode writes one event. One that was read, and of which this version does not know everything, is written as it was read.
func (e *Encoder) Encode(ev Event) error {
	if len(ev.Raw) > 0 {
		_, err := e.w.Write(append(bytes.Clone(ev.Raw), '\n'))
		return err
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(listed(ev)); err != nil {
		return fmt.Errorf("encode %s event: %w", ev.Kind, err)
	}
	_, err := e.w.Write(line.Bytes())
	return err
}

// listed returns ev with empty lists where it has none, as the contract has it: no list is ever null. Nothing that ev points at is
// changed.
func listed(ev Event) Event {
	if ev.Settings != nil {
		s := *ev.Settings
		s.Nameservers, s.Search, s.Options, s.Warnings = orEmpty(s.Nameservers), orEmpty(s.Search), orEmpty(s.Options), orEmpty(s.Warnings)
		ev.Settings = &s
	}
	ev.Findings = slices.Clone(ev.Findings)
	for i := range ev.Findings {
		f := &ev.Findings[i]
		f.Evidence, f.Remedies = orEmpty(f.Evidence), orEmpty(f.Remedies)
	}
	if ev.Patch != nil {
		p := *ev.Patch
		p.Names = orEmpty(slices.Clone(p.Names))
		for i := range p.Names {
			n := &p.Names[i]
			n.Before.Addresses, n.After.Addresses = orEmpty(n.Before.Addresses), orEmpty(n.After.Addresses)
		}
		ev.Patch = &p
	}
	ev.Comparisons = slices.Clone(ev.Comparisons)
	for i := range ev.Comparisons {
		libcs := orEmpty(slices.Clone(ev.Comparisons[i].Libcs))
		for j := range libcs {
			libcs[j].Addresses = orEmpty(libcs[j].Addresses)
		}
		ev.Comparisons[i].Libcs = libcs
	}
	return ev
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Decoder reads events from NDJSON.
type Decoder struct {
	lines *bufio.Scanner
	n     int
	// unknown counts what this version does not know, in words.
	unknown map[string]int
}

// NewDecoder returns a Decoder that reads from r.
func NewDecoder(r io.Reader) *Decoder {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64*1024), MaxLine)
	return &Decoder{lines: s, unknown: map[string]int{}}
}

// Decode reads the next event. It returns io.EOF at the end of the stream; a broken line is an error with its number.
// Empty lines are skipped. What this version does not know, an event of a later one or a field of it, is no error: the event comes
// with its Raw line, Fold skips what it cannot use, and Unknown names it.
func (d *Decoder) Decode() (Event, error) {
	for d.lines.Scan() {
		d.n++
		line := bytes.TrimSpace(d.lines.Bytes())
		if len(line) == 0 {
			continue
		}
		ev, field, err := decode(line)
		if err != nil {
			return Event{}, fmt.Errorf("read event on line %d: %w", d.n, err)
		}
		if ev.Kind == "" {
			return Event{}, fmt.Errorf("read event on line %d: it has no \"event\" field", d.n)
		}
		if !ev.Kind.Known() {
			d.unknown[fmt.Sprintf("event %.60q", string(ev.Kind))]++
			ev.Raw = bytes.Clone(line)
		} else if field != "" {
			d.unknown["field "+field]++
			ev.Raw = bytes.Clone(line)
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

// decode reads one line, and names a field that this version does not know.
func decode(line []byte) (ev Event, field string, err error) {
	strict := json.NewDecoder(bytes.NewReader(line))
	strict.DisallowUnknownFields()
	err = strict.Decode(&ev)
	if err == nil {
		if strict.More() {
			err = errors.New("more than one value on the line")
		}
		return ev, "", err
	}
	_, field, found := strings.Cut(err.Error(), "unknown field ")
	if !found {
		return ev, "", err
	}
	ev = Event{}
	err = json.Unmarshal(line, &ev)
	return ev, fmt.Sprintf("%.60s", field), err
}

// Line is the number of the line that was read last, from 1.
func (d *Decoder) Line() int { return d.n }

// Unknown names what was read and is not known to this version ("event \"weather\"", "field \"mood\""), in order, with how often.
func (d *Decoder) Unknown() []string {
	var out []string
	for _, what := range slices.Sorted(maps.Keys(d.unknown)) {
		if n := d.unknown[what]; n > 1 {
			what += fmt.Sprintf(" (%d times)", n)
		}
		out = append(out, what)
	}
	return out
}

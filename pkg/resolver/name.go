package resolver

import (
	"errors"
	"strings"
)

// Limits of names on the wire (RFC 1035 section 2.3.4).
const (
	MaxLabelBytes = 63
	MaxNameBytes  = 255
)

// Errors of names that no message can hold.
var (
	ErrEmptyLabel  = errors.New("an empty label inside the name")
	ErrLabelTooBig = errors.New("a label over 63 bytes")
	ErrNameTooBig  = errors.New("a name over 255 bytes")
	ErrBadEscape   = errors.New("a broken escape")
)

// Labels cuts a name in presentation format into its labels: a backslash before a byte takes away its meaning, a backslash
// with three digits stands for a byte (RFC 1035 section 5.1). A final dot may be missing; "" and "." are the root.
//
// It accepts exactly what libcs derived from BIND accept (glibc resolv/ns_name_pton.c); a label of any bytes is fine.
func Labels(name string) ([]string, error) {
	r := labelsOf(name)
	var labels []string
	for {
		label, ok, err := r.next()
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return labels, nil
		case labels == nil:
			labels = make([]string, 0, strings.Count(name, ".")+1)
		}
		labels = append(labels, label)
	}
}

// labelReader takes a name apart, label by label. Labels without an escape share the name's memory: names are compared for
// every reply.
type labelReader struct {
	rest string
	// bytes is the size on the wire of what was read.
	bytes int
}

func labelsOf(name string) labelReader {
	if name == "." {
		name = ""
	}
	return labelReader{rest: name, bytes: 1}
}

// next returns the next label; ok is false when there is none left.
func (r *labelReader) next() (label string, ok bool, err error) {
	if r.rest == "" {
		if r.bytes > MaxNameBytes {
			return "", false, ErrNameTooBig
		}
		return "", false, nil
	}
	end := strings.IndexAny(r.rest, `.\`)
	switch {
	case end < 0:
		label, r.rest = r.rest, ""
	case r.rest[end] == '.':
		label, r.rest = r.rest[:end], r.rest[end+1:]
	default:
		if label, err = r.escaped(end); err != nil {
			return "", false, err
		}
	}
	switch r.bytes += len(label) + 1; {
	case label == "":
		return "", false, ErrEmptyLabel
	case len(label) > MaxLabelBytes:
		return "", false, ErrLabelTooBig
	}
	return label, true, nil
}

// escaped reads a label with an escape, the first of which is at start.
func (r *labelReader) escaped(start int) (string, error) {
	label := append(make([]byte, 0, MaxLabelBytes), r.rest[:start]...)
	i := start
	for ; i < len(r.rest) && r.rest[i] != '.'; i++ {
		c := r.rest[i]
		if c == '\\' {
			n, b, err := unescape(r.rest[i+1:])
			if err != nil {
				return "", err
			}
			i, c = i+n, b
		}
		label = append(label, c)
	}
	r.rest = r.rest[min(i+1, len(r.rest)):]
	return string(label), nil
}

// unescape reads what follows a backslash and returns how many bytes it took.
func unescape(s string) (n int, c byte, err error) {
	if s == "" {
		return 0, 0, ErrBadEscape
	}
	if s[0] < '0' || s[0] > '9' {
		return 1, s[0], nil
	}
	if len(s) < 3 {
		return 0, 0, ErrBadEscape
	}
	value := 0
	for _, d := range []byte(s[:3]) {
		if d < '0' || d > '9' {
			return 0, 0, ErrBadEscape
		}
		value = value*10 + int(d-'0')
	}
	if value > 255 {
		return 0, 0, ErrBadEscape
	}
	return 3, byte(value), nil
}

// JoinLabels returns the name of labels in presentation format, fully qualified; dots, backslashes and bytes that are not
// printable are escaped.
func JoinLabels(labels []string) string {
	if len(labels) == 0 {
		return "."
	}
	size := 0
	for _, label := range labels {
		size += len(label) + 1
	}
	var b strings.Builder
	b.Grow(size)
	for _, label := range labels {
		for i := range len(label) {
			escapeByte(&b, label[i], true)
		}
		b.WriteByte('.')
	}
	return b.String()
}

func escapeByte(b *strings.Builder, c byte, dot bool) {
	switch {
	case c == '.' && dot || c == '\\':
		b.WriteByte('\\')
		b.WriteByte(c)
	case c > ' ' && c <= '~':
		b.WriteByte(c)
	default:
		b.Write([]byte{'\\', '0' + c/100, '0' + c/10%10, '0' + c%10})
	}
}

// maxShown bounds a name that is only shown, in bytes of the original.
const maxShown = 1024

// ShowName makes a text that is no name fit to stand where names stand: unprintable bytes are escaped, a final dot added.
func ShowName(text string) string {
	cut := text
	if len(cut) > maxShown {
		cut = cut[:maxShown]
	}
	var b strings.Builder
	for i := range len(cut) {
		escapeByte(&b, cut[i], false)
	}
	if len(cut) < len(text) {
		return b.String() + "…"
	}
	if !strings.HasSuffix(cut, ".") {
		b.WriteByte('.')
	}
	return b.String()
}

// SameName reports whether two names are equal on the wire but for the case of ASCII letters. Names that are none equal
// nothing.
func SameName(a, b string) bool {
	ra, rb := labelsOf(a), labelsOf(b)
	for {
		la, moreA, errA := ra.next()
		lb, moreB, errB := rb.next()
		switch {
		case errA != nil || errB != nil || moreA != moreB || !EqualFoldASCII(la, lb):
			return false
		case !moreA:
			return true
		}
	}
}

// EqualFoldASCII compares two texts byte by byte without regard to the case of ASCII letters.
func EqualFoldASCII(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lowerByte(a[i]) != lowerByte(b[i]) {
			return false
		}
	}
	return true
}

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// IsHostName reports whether all labels consist of letters, digits, "-" and "_" only, and the first does not begin with "-".
// The root is a host name. Source: glibc resolv/res-name-checking.c, __res_binary_hnok.
func IsHostName(labels []string) bool {
	for _, label := range labels {
		for i := range len(label) {
			if !isHostByte(label[i]) {
				return false
			}
		}
	}
	return len(labels) == 0 || labels[0][0] != '-'
}

func isHostByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_'
}

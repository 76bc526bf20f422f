package musl

import "bytes"

// canonBytes is the size of the buffer for the canonical name.
const canonBytes = 256

// canon is the buffer that musl hands from function to function: it holds the canonical name, and in a search the candidate. It is kept
// as bytes because a CNAME record can overwrite the host before the next candidate is built in it (before 1.2.1).
type canon [canonBytes]byte

// String is what C sees in it.
func (b *canon) String() string {
	if i := bytes.IndexByte(b[:], 0); i >= 0 {
		return string(b[:i])
	}
	return string(b[:])
}

// put writes text at an offset, and a NUL behind it, as far as there is room.
func (b *canon) put(at int, text string) {
	n := copy(b[at:], text)
	if at+n < len(b) {
		b[at+n] = 0
	}
}

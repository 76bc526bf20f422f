package dnsnet

import (
	"encoding/binary"
	"fmt"
)

// maxMessage is what the length prefix of RFC 1035 section 4.2.2 can say.
const maxMessage = 65535

// frame puts the length prefix in front of a message.
func frame(buf, msg []byte) ([]byte, error) {
	if len(msg) > maxMessage {
		return nil, fmt.Errorf("send a message of %d bytes over TCP: at most %d fit", len(msg), maxMessage)
	}
	return append(binary.BigEndian.AppendUint16(buf, uint16(len(msg))), msg...), nil
}

// reassembly collects the bytes of a TCP stream until a whole message is there. Its memory is bounded by one message and
// one read, since its owner takes messages out before reading on.
type reassembly struct{ buf []byte }

func (r *reassembly) add(p []byte) { r.buf = append(r.buf, p...) }

// next takes out the first whole message; the slice is valid until the next add.
func (r *reassembly) next() ([]byte, bool) {
	if len(r.buf) < 2 {
		return nil, false
	}
	end := 2 + int(binary.BigEndian.Uint16(r.buf))
	if len(r.buf) < end {
		return nil, false
	}
	msg := r.buf[2:end]
	r.buf = r.buf[end:]
	if len(r.buf) == 0 {
		r.buf = nil
	}
	return msg, true
}

package target

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// Only what tells libcs apart is read of a program, with bounds of our own: the standard library's reader takes in as much as
// the file says, and the file is hostile.

// Bounds of what is read of a program or library, in bytes.
const (
	maxSegments = 64
	maxInterp   = 4096
	maxScan     = 64 << 20
)

// Fields of ELF that are looked at (System V ABI, chapters 4 and 5).
const (
	elfHeaderSize = 64
	loadSegment   = 1 // PT_LOAD
	interpSegment = 3 // PT_INTERP
	writable      = 2 // PF_W
	classWide     = 2 // ELFCLASS64
	bigEndian     = 2 // ELFDATA2MSB
)

var errNotELF = errors.New("not an ELF program")

// program is a program or library as far as it is read.
type program struct {
	file io.ReaderAt
	// interp is the path of the dynamic loader, empty for a static program.
	interp   string
	segments []segment
}

// segment is a part of a program that is loaded into memory.
type segment struct {
	flags     uint32
	off, size int64
}

// readProgram reads the program headers of an ELF file.
func readProgram(file io.ReaderAt) (program, error) {
	head := make([]byte, elfHeaderSize)
	if _, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return program{}, err
	}
	if !bytes.HasPrefix(head, []byte("\x7fELF")) {
		return program{}, errNotELF
	}
	var order binary.ByteOrder = binary.LittleEndian
	if head[5] == bigEndian {
		order = binary.BigEndian
	}
	wide := head[4] == classWide
	var table int64
	var size, count int
	if wide {
		table, size, count = int64(order.Uint64(head[32:])), int(order.Uint16(head[54:])), int(order.Uint16(head[56:]))
	} else {
		table, size, count = int64(order.Uint32(head[28:])), int(order.Uint16(head[42:])), int(order.Uint16(head[44:]))
	}
	least := 32
	if wide {
		least = 56
	}
	if size < least || count > maxSegments || table < 0 {
		return program{}, errNotELF
	}
	p := program{file: file}
	entry := make([]byte, least)
	for i := range count {
		if _, err := file.ReadAt(entry, table+int64(i)*int64(size)); err != nil {
			return program{}, errNotELF
		}
		p.take(entry, order, wide)
	}
	return p, nil
}

// take takes in one program header.
func (p *program) take(entry []byte, order binary.ByteOrder, wide bool) {
	var s segment
	if wide {
		s = segment{order.Uint32(entry[4:]), int64(order.Uint64(entry[8:])), int64(order.Uint64(entry[32:]))}
	} else {
		s = segment{order.Uint32(entry[24:]), int64(order.Uint32(entry[4:])), int64(order.Uint32(entry[16:]))}
	}
	if s.off < 0 || s.size <= 0 {
		return
	}
	switch order.Uint32(entry) {
	case loadSegment:
		p.segments = append(p.segments, s)
	case interpSegment:
		path := make([]byte, min(s.size, maxInterp))
		n, _ := p.file.ReadAt(path, s.off) // What is cut off has no terminator, and is then no path.
		if end := bytes.IndexByte(path[:n], 0); end > 0 {
			p.interp = string(path[:end])
		}
	}
}

// texts calls see with every run of printable text in the loaded segments, at most maxText bytes of each, until it returns
// false. The text is only valid during the call.
func (p program) texts(see func(text []byte) bool) {
	left := int64(maxScan)
	for _, s := range p.segments {
		size := min(s.size, left)
		left -= size
		if !texts(io.NewSectionReader(p.file, s.off, size), see) || left == 0 {
			return
		}
	}
}

// maxText bounds one text. The longest that is looked for is a version banner.
const maxText = 512

// texts finds runs of printable text in a stream, as strings(1) does. It returns false when see did.
func texts(in io.Reader, see func(text []byte) bool) bool {
	chunk := make([]byte, 64<<10)
	var run []byte
	for {
		n, err := in.Read(chunk)
		rest := chunk[:n]
		for len(rest) > 0 {
			end := notText(rest)
			if end < 0 {
				run = append(run, rest[:min(len(rest), maxText-len(run))]...)
				break
			}
			run = append(run, rest[:min(end, maxText-len(run))]...)
			if len(run) > 0 && !see(run) {
				return false
			}
			run, rest = run[:0], rest[end+1:]
		}
		if err != nil {
			return len(run) == 0 || see(run)
		}
	}
}

// textsAt calls see with every run of printable text that begins with mark, as texts would. A big library is gone through some
// twenty times faster: the resolver waits for it, and the pod pays for it.
func (p program) textsAt(mark []byte, see func(text []byte) bool) {
	left := int64(maxScan)
	for _, s := range p.segments {
		size := min(s.size, left)
		left -= size
		if !textsAt(io.NewSectionReader(p.file, s.off, size), mark, see) || left == 0 {
			return
		}
	}
}

// textsAt finds runs of printable text that begin with mark. It returns false when see did.
func textsAt(in *io.SectionReader, mark []byte, see func(text []byte) bool) bool {
	const step = 64 << 10
	// A piece has one byte more in front, which tells whether a run begins there, and as much more at its end as a run can have.
	buf := make([]byte, 1+step+maxText)
	for at := int64(0); at < in.Size(); at += step {
		from := max(at-1, 0)
		n, err := in.ReadAt(buf, from)
		piece, end := buf[:n], int(at-from)+step
		for i := int(at - from); i < min(n, end); i += len(mark) {
			next := bytes.Index(piece[i:], mark)
			if i += next; next < 0 || i >= end {
				break
			}
			if i > 0 && notText(piece[i-1:i]) < 0 {
				continue
			}
			text := piece[i:min(i+maxText, n)]
			if stop := notText(text); stop >= 0 {
				text = text[:stop]
			}
			if !see(text) {
				return false
			}
		}
		if err != nil && n <= end {
			break // What cannot be read has no text in it.
		}
	}
	return true
}

// notText returns where data first is no printable ASCII, -1 if it all is.
func notText(data []byte) int {
	for i, b := range data {
		if (b < ' ' && b != '\n' && b != '\t') || b > '~' {
			return i
		}
	}
	return -1
}

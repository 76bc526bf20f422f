package glibc

// scratchBytes is the size that getaddrinfo's scratch buffer begins with (include/scratch_buffer.h). When the addresses of an
// answer do not fit, the buffer doubles and the module is called again, all queries included.
const scratchBytes = 1024

// tupleBytes is sizeof (struct gaih_addrtuple) where pointers have 64 bits.
const tupleBytes = 40

const pointerBytes = 8

// scratch follows struct alloc_buffer: it only counts.
type scratch struct {
	size, used int
	failed     bool
}

// alloc takes n bytes at an alignment. After a failure everything fails.
func (b *scratch) alloc(n, align int) bool {
	start := (b.used + align - 1) / align * align
	if b.failed || start+n > b.size {
		b.failed = true
		return false
	}
	b.used = start + n
	return true
}

// text takes a string with its terminator.
func (b *scratch) text(n int) bool { return b.alloc(n+1, 1) }

// room reports whether n bytes are left, taking none.
func (b *scratch) room(n int) bool { return !b.failed && b.used+n <= b.size }

// grow follows scratch_buffer_grow.
func (c *call) grow() { c.buffer *= 2 }

// growAndRepeat says why the same names are asked for again.
func (c *call) growAndRepeat(before int) {
	c.grow()
	if c.Attempts() > before {
		c.Note("the addresses do not fit glibc's buffer of %d bytes: it doubles the buffer and repeats the whole lookup", c.buffer/2)
	}
}

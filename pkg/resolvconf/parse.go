package resolvconf

import "fmt"

// Libc names a dialect of resolv.conf. The values are those of probe.Libc, which this package cannot import.
type Libc string

// Glibc is the dialect of the GNU C library.
const Glibc Libc = "glibc"

// Inputs is everything besides the file that decides a configuration.
type Inputs struct {
	// Hostname is gethostname() of the process.
	Hostname string
	// Env holds LOCALDOMAIN and RES_OPTIONS where they are set; set but empty is present.
	Env map[string]string
	// Version is the libc's version or the distribution's build ("2.36", "2.36-9+deb12u14").
	Version string
}

// ErrDialect is returned by Parse for a libc whose dialect is not known here.
type ErrDialect struct{ Libc Libc }

func (e ErrDialect) Error() string {
	return fmt.Sprintf("parse resolv.conf as %q reads it: that dialect is not known; parse it as another libc does and say so", string(e.Libc))
}

// Parse returns what a libc makes of the text of a resolv.conf. A text of any content gives a Config; the only error is
// ErrDialect, for a libc whose dialect is not known: falling back to another dialect is the caller's decision, since search
// order and limits would be wrong without a word.
func Parse(libc Libc, text string, in Inputs) (Config, error) {
	switch libc {
	case Glibc:
		return ParseGlibc(text, in), nil
	case Musl:
		return ParseMusl(text, in), nil
	case Go:
		return ParseGo(text, in), nil
	case CAres:
		return ParseCAres(text, in), nil
	}
	return Config{}, ErrDialect{libc}
}

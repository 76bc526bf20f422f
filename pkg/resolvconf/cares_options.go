package resolvconf

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// option applies one word. A value that is no number, and a 0 for timeout or attempts, make c-ares ignore the word.
//
// Source: c-ares src/lib/ares_sysconfig_files.c, process_option.
func (p *caresParser) option(word string) {
	name, value, hasValue := strings.Cut(word, ":")
	hasValue = hasValue && value != ""
	number := uint64(0)
	if hasValue {
		var err error
		if number, err = strconv.ParseUint(value, 10, 32); err != nil || !isDigit(value[0]) {
			p.warn(shorten(word, 40) + ": ignored, c-ares wants a whole number behind the colon")
			return
		}
	}
	switch name {
	case "ndots":
		p.config.Ndots = int(min(number, math.MaxInt32))
	case "timeout", "retrans", "attempts", "retry":
		if number == 0 {
			p.warn(shorten(word, 40) + ": ignored, c-ares takes no 0 here")
			return
		}
		if name == "timeout" || name == "retrans" {
			p.config.TimeoutMillis = int(min(number*1000, math.MaxInt32))
			return
		}
		p.config.Attempts = int(min(number, math.MaxInt16))
	case "rotate":
		p.config.Rotate = true
		p.warn(shorten(word, 40) + ": c-ares throws dice for every query, the two of a pair can go to different servers")
	case "use-vc", "usevc":
		p.warn(shorten(word, 40) + ": without effect in a channel made with default options, its flags are overwritten afterwards")
	default:
		p.warn(fmt.Sprintf("%s: ignored, not an option that c-ares knows", shorten(word, 40)))
	}
}

package resolvconf

import (
	"strconv"
	"strings"
)

// MuslVersion is a version of musl, all three numbers of it. The zero MuslVersion is unknown.
type MuslVersion struct{ Major, Minor, Patch int }

// AssumedMusl is the musl that is followed when a version is unknown: the newest one observed.
var AssumedMusl = MuslVersion{1, 2, 5}

// ParseMuslVersion reads the upstream version at the start of a version or build string ("1.2.5", "1.2.3-1", "1.1.24-r10"). It
// returns false when there is none.
func ParseMuslVersion(s string) (MuslVersion, bool) {
	var numbers [3]int
	rest := strings.TrimSpace(s)
	for i := range numbers {
		end := 0
		for end < len(rest) && isDigit(rest[end]) {
			end++
		}
		n, err := strconv.Atoi(rest[:end])
		if err != nil {
			return MuslVersion{}, false
		}
		numbers[i] = n
		if rest = rest[end:]; i == len(numbers)-1 {
			break
		}
		if !strings.HasPrefix(rest, ".") {
			return MuslVersion{}, false
		}
		rest = rest[1:]
	}
	return MuslVersion{numbers[0], numbers[1], numbers[2]}, true
}

// AtLeast reports whether v is major.minor.patch or later.
func (v MuslVersion) AtLeast(major, minor, patch int) bool {
	if v.Major != major {
		return v.Major > major
	}
	return v.Minor > minor || v.Minor == minor && v.Patch >= patch
}

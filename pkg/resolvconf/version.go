package resolvconf

import (
	"strconv"
	"strings"
)

// Version is an upstream version of a libc, comparable with After. The zero Version is unknown.
type Version struct{ Major, Minor int }

// ParseVersion reads the upstream version at the start of a version or build string ("2.36", "2.36-9+deb12u14",
// "2.35-0ubuntu3.8", "1.2.5"). It returns false when there is none.
func ParseVersion(s string) (Version, bool) {
	major, rest, found := strings.Cut(strings.TrimSpace(s), ".")
	if !found {
		return Version{}, false
	}
	end := 0
	for end < len(rest) && isDigit(rest[end]) {
		end++
	}
	ma, err := strconv.Atoi(major)
	if err != nil || ma < 0 {
		return Version{}, false
	}
	mi, err := strconv.Atoi(rest[:end])
	if err != nil {
		return Version{}, false
	}
	return Version{ma, mi}, true
}

// AtLeast reports whether v is major.minor or later.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// AssumedGlibc is the glibc that is followed when a version is unknown: that of Debian 12, the one observed.
var AssumedGlibc = Version{2, 36}

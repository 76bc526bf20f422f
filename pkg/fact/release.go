package fact

import (
	"fmt"
	"strconv"
	"strings"
)

// Release is that of a Linux kernel. Distributions keep the numbers and bring fixes back, so a lower number does not prove that
// a fix is missing.
type Release struct {
	Major, Minor int
	// Text is the whole of it ("5.15.0-91-generic").
	Text string
}

func (r Release) String() string { return fmt.Sprintf("%d.%d", r.Major, r.Minor) }

// AtLeast says whether r is major.minor or newer.
func (r Release) AtLeast(major, minor int) bool {
	return r.Major > major || r.Major == major && r.Minor >= minor
}

// KernelRelease returns what the fact Kernel says; known is false when nobody knows.
func (f Facts) KernelRelease() (r Release, known bool) {
	text, known := f.Text(Kernel)
	if !known {
		return Release{}, false
	}
	major, rest, found := strings.Cut(text, ".")
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	r.Text = text
	var failed, alsoFailed error
	r.Major, failed = strconv.Atoi(major)
	r.Minor, alsoFailed = strconv.Atoi(rest[:end])
	if !found || failed != nil || alsoFailed != nil || r.Major < 0 {
		return Release{}, false
	}
	return r, true
}

package target

import (
	"path"
	"strings"
)

// runtimes are callers (package caller) by the names of their programs.
var runtimes = map[string]string{"java": "jvm", "node": "node", "nodejs": "node", "python": "python", "envoy": "envoy", "nginx": "nginx"}

// runtimeOf returns the caller that a program is by its path, empty for all that are not known. A program that was replaced while
// it runs has a word behind its name (proc(5)); interpreters can have their version there.
func runtimeOf(exe string) string {
	name := path.Base(strings.TrimSuffix(exe, " (deleted)"))
	if strings.HasPrefix(name, "python") {
		name = strings.TrimRight(name, "0123456789.")
	}
	return runtimes[name]
}

// Package quiet keeps bubbletea from asking the terminal questions at the start of every process.
//
// bubbletea v1 has an init function (tea_init.go) that asks a terminal on standard output for its background colour and waits
// up to five seconds for the answer, whatever the command: even `version` would write escapes, swallow what was typed ahead
// and hang on a terminal that stays silent. There is no option against it. termenv asks no dumb terminal, so TERM says dumb
// until bubbletea's init is over. This package imports nothing but os, so it is initialised before bubbletea's
// dependencies are (Go specification, "Program initialization": by import path among those that are ready); pkg/tui calls
// Over in its own init, which comes after bubbletea's.
package quiet

import "os"

var before, had = os.LookupEnv("TERM")

func init() { set("dumb") }

// Over puts TERM back. It is for init functions: later there may be other goroutines that read the environment.
func Over() {
	if !had {
		_ = os.Unsetenv("TERM")
		return
	}
	set(before)
}

func set(value string) {
	// Setenv only fails for names and values that no environment can hold; these can.
	_ = os.Setenv("TERM", value)
}

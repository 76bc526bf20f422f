package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/caller"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// The words of --libc that name no resolver.
const (
	libcAuto = "auto"
	libcAll  = "all"
)

// libcChoice is a word that --libc takes. Help, completion, validation and the text of usage errors are made from the list of them.
type libcChoice struct {
	// word is what is typed.
	word string
	// libc is the resolver to follow; empty for auto and all.
	libc probe.Libc
	// version is an example of a version that can follow the word, behind "-" or ":"; empty where none can.
	version string
	// caller is who calls it, empty for a plain getaddrinfo. Its libc is the one that it brings along, empty for that of the target.
	caller string
	// what says whose resolver that is.
	what string
}

// libcChoices lists the words of --libc in the order of help, with auto first. Those whose resolver cannot be followed are left out.
func libcChoices() []libcChoice {
	list := slices.DeleteFunc([]libcChoice{
		{word: libcAuto, what: "the one that the target has"},
		{word: string(probe.Glibc), libc: probe.Glibc, version: "2.36", what: "glibc's getaddrinfo (Debian, Ubuntu, Red Hat)"},
		{word: string(probe.Musl), libc: probe.Musl, version: "1.2.5", what: "musl's getaddrinfo (Alpine)"},
		{word: string(probe.Go), libc: probe.Go, version: "1.26", what: "the resolver of Go's package net"},
		{word: string(probe.CAres), libc: probe.CAres, version: "1.34", what: "c-ares (Envoy, some builds of curl)"},
		{word: libcAll, what: "each of them, side by side"},
	}, func(c libcChoice) bool { return c.libc != "" && !engine.Supported(c.libc) })
	for _, c := range caller.All() {
		list = append(list, libcChoice{word: c.Word, libc: c.Libc, caller: c.Word, what: c.What})
	}
	return list
}

// libcWords lists the words of --libc.
func libcWords() []string {
	var words []string
	for _, c := range libcChoices() {
		words = append(words, c.word)
	}
	return words
}

// libcUsage is what help says of --libc.
func libcUsage() string {
	return "whose resolver to follow: " + strings.Join(libcWords(), ", ") + "; a libc can have its version behind it: glibc-2.36"
}

// parseLibc returns the choice that a value of --libc names, and the version behind it. The longest word counts, since words can
// have hyphens themselves.
func parseLibc(s string) (libcChoice, string, error) {
	var best libcChoice
	var version string
	for _, c := range libcChoices() {
		rest, found := strings.CutPrefix(s, c.word)
		if !found || len(c.word) <= len(best.word) {
			continue
		}
		// glibc-2.36 as packages write it, glibc:2.36 as options do.
		switch {
		case rest == "":
			best, version = c, ""
		case c.version != "" && len(rest) > 1 && (rest[0] == '-' || rest[0] == ':'):
			best, version = c, rest[1:]
		}
	}
	switch {
	case best.word == "":
		return best, "", usageError("use one of: "+strings.Join(libcWords(), ", "), "--libc %q is not a resolver this version can follow", s)
	case version != "" && (version[0] < '0' || version[0] > '9'):
		return best, "", usageError(fmt.Sprintf("use --libc %s or --libc %s-%s", best.word, best.word, best.version), "--libc %q: %q is not a version", s, version)
	}
	return best, version, nil
}

// completeLibc completes the value of --libc on c and the commands below it.
func completeLibc(c *cobra.Command) {
	if c.Flags().Lookup("libc") != nil {
		var words []cobra.Completion
		for _, choice := range libcChoices() {
			words = append(words, cobra.CompletionWithDesc(choice.word, choice.what))
		}
		err := c.RegisterFlagCompletionFunc("libc", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		if err != nil {
			// Only a flag that is not there, or one that has a completion already, is refused.
			panic(err)
		}
	}
	for _, sub := range c.Commands() {
		completeLibc(sub)
	}
}

// compared lists the libcs that --libc all follows beside that of the run, each as far as it is known.
func (a asking) compared(run probe.Resolver) []probe.Resolver {
	if !a.all {
		return nil
	}
	known := map[probe.Libc]probe.Resolver{run.Libc: run}
	if run.Cgo != nil {
		known[probe.Go], known[run.Cgo.Libc.Libc] = probe.Resolver{Version: run.Cgo.GoVersion}, run.Cgo.Libc
	}
	var list []probe.Resolver
	for _, libc := range engine.Libcs() {
		version := known[libc].Build
		if version == "" {
			version = known[libc].Version
		}
		list = append(list, probe.Resolver{Libc: libc, Version: version})
	}
	return list
}

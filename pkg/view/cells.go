package view

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"

// Cells returns what an attempt of r came to for a table that somebody else draws: its A and its AAAA query, and how long it took
// ("" while it runs).
func Cells(r *probe.Resolution, a *probe.Attempt, f Frame) (a4, a6, took string) {
	ended := r.Outcome != "" || !f.Live
	if a.Outcome != "" {
		took = Duration(a.Duration)
	}
	return S(Plain, cellOf(a, probe.TypeA, ended, f.Glyphs).String()).text, S(Plain, cellOf(a, probe.TypeAAAA, ended, f.Glyphs).String()).text, took
}

// Losses returns the sentences about what an attempt of r lost; none when it lost nothing.
func Losses(r *probe.Resolution, a *probe.Attempt) []string { return losses(r, a) }

// Target returns where a run took place, in words.
func Target(run *probe.Run, f Frame) string { return targetName(run.Target, f.Glyphs.Dot) }

// Resolver returns through whose eyes a run was seen, in words.
func Resolver(run *probe.Run) string { return libcName(run.Resolver) }

// ShownSettings returns the settings that people look for first, in words: "ndots:5, 4 search domains".
func ShownSettings(run *probe.Run) string { return settings(run.Settings) }

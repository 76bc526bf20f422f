package version

import "testing"

func TestImageFollowsTheVersionSetAtLinkTime(t *testing.T) {
	defer func(v string) { Version = v }(Version)
	Version = "v1.2.3"
	if got, want := Image(), "ghcr.io/kubectl-dnsprobe/dnsprobe-agent:v1.2.3"; got != want {
		t.Errorf("Image() = %q, want %q", got, want)
	}
}

func TestStringNamesTheCommitOnlyWhenKnown(t *testing.T) {
	defer func(v, c string) { Version, Commit = v, c }(Version, Commit)
	Version, Commit = "v1.2.3", ""
	if got := String(); got != "v1.2.3" {
		t.Errorf("without a commit: %q", got)
	}
	Commit = "1a2b3c4"
	if got := String(); got != "v1.2.3 (1a2b3c4)" {
		t.Errorf("with a commit: %q", got)
	}
}

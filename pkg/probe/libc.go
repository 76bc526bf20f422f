package probe

// Libc names whose resolver a resolution follows.
type Libc string

// The resolvers that can be followed.
const (
	Glibc Libc = "glibc"
	Musl  Libc = "musl"
	Go    Libc = "go"
	CAres Libc = "cares"
)

// ResolverSource says how the resolver of a run was chosen.
type ResolverSource string

// How a resolver was chosen.
const (
	SourceDetected ResolverSource = "detected"
	SourceFlag     ResolverSource = "flag"
	SourceAssumed  ResolverSource = "assumed"
)

// Resolver is the libc that a run follows, and why.
type Resolver struct {
	Libc Libc `json:"libc"`
	// Version is the upstream version ("2.36"), empty when unknown.
	Version string `json:"version"`
	// Build is the distribution's full version where it was found ("2.36-9+deb12u14").
	Build  string         `json:"build,omitempty"`
	Source ResolverSource `json:"source"`
	// Why is one sentence: what was read, or what was assumed for lack of it.
	Why string `json:"why"`
	// Caller names who calls the libc, and how ("jvm", "dig"; package caller has the list); empty for a plain getaddrinfo.
	Caller string `json:"caller,omitempty"`
	// Runtime is the caller that the target's program is by its name ("jvm", "node", "python"), whether or not it is followed; empty for
	// others.
	Runtime string `json:"runtime,omitempty"`
	// Cgo is set for a Go program that can use Go's resolver and libc's and was told to use neither. It decides for every lookup,
	// so what the fields above say holds for the settings as they were found.
	Cgo *CgoProgram `json:"cgo,omitempty"`
}

// CgoProgram is a Go program that chooses between two resolvers.
type CgoProgram struct {
	// Program names it for people.
	Program string `json:"program"`
	// GoVersion is the release that it was built with ("1.26.8").
	GoVersion string `json:"goVersion"`
	// Libc is the libc that it leaves lookups to. Its Cgo is nil.
	Libc Resolver `json:"libc"`
}

package probe

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"

// Schema names the JSON contract that Run follows.
const Schema = "dnsprobe.v1"

// Run is everything known about one run: the document behind every report, and the JSON contract.
type Run struct {
	Schema      string       `json:"schema"`
	Tool        Tool         `json:"tool"`
	Target      Target       `json:"target"`
	Settings    Settings     `json:"settings"`
	Resolver    Resolver     `json:"resolver"`
	Resolutions []Resolution `json:"resolutions"`
	WhatIf      []WhatIf     `json:"whatIf"`
	// Facts are keyed by name ("dnsPolicy").
	Facts    map[string]Fact `json:"facts"`
	Findings []Finding       `json:"findings"`
	Patch    *Patch          `json:"patch"`
	// Problems are what the run could not do, each with the next step. They are never findings about DNS.
	Problems []string `json:"problems,omitempty"`
	// FollowUps is what was asked beside the hosts because a verdict hung on it; absent when nothing was.
	FollowUps *FollowUps `json:"followUps,omitempty"`
	// Comparisons are the hosts that were followed through several libcs; absent when that was not asked for.
	Comparisons []Comparison `json:"comparisons,omitempty"`
}

// FollowUps counts what was asked because a verdict hung on it, and bounds it.
type FollowUps struct {
	// Asked is the number of questions and repetitions; Sent counts their messages, retransmissions included.
	Asked int `json:"asked"`
	Sent  int `json:"sent"`
	// MostSent is the bound of Sent.
	MostSent int `json:"mostSent"`
	// Left is the number of questions for which no messages or no time were left.
	Left int `json:"left,omitempty"`
}

// Tool is the program that made a run.
type Tool struct {
	Version string `json:"version"`
	// Agent is the version of the program in the pod, empty when none took part.
	Agent string `json:"agent,omitempty"`
}

// Target is where a run took place.
type Target struct {
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Container string `json:"container,omitempty"`
	Node      string `json:"node,omitempty"`
	Owner     *Owner `json:"owner,omitempty"`
	// Via is the way in: "ephemeral", "local", "model".
	Via string `json:"via"`
	// Image is the image of the probe's container.
	Image string `json:"image,omitempty"`
	// Chosen says how a pod was chosen when the target named a workload or a Service.
	Chosen string `json:"chosen,omitempty"`
}

// Owner is the workload that owns the pod.
type Owner struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	// Replicas is how many pods a change rolls; absent when unknown.
	Replicas *int32 `json:"replicas,omitempty"`
}

// Settings are the resolver settings in force in the target.
type Settings struct {
	// Raw is the resolv.conf as text.
	Raw            string               `json:"raw"`
	Nameservers    []string             `json:"nameservers"`
	Search         []string             `json:"search"`
	Ndots          int                  `json:"ndots"`
	TimeoutSeconds int                  `json:"timeoutSeconds"`
	Attempts       int                  `json:"attempts"`
	Options        []string             `json:"options"`
	Warnings       []resolvconf.Warning `json:"warnings"`
	// Source says whose files were read: "target", "sandbox" (the pod's sandbox, the target's could not be read), "file",
	// "machine", "model".
	Source string `json:"source"`
	// Why tells what kept the target's own files from being read, when Source is "sandbox".
	Why string `json:"why,omitempty"`
	// Hosts, NSSwitch and Env are the other inputs of the resolver, as far as they could be read.
	Hosts string `json:"hosts,omitempty"`
	// NSSwitch is absent when the target has no nsswitch.conf.
	NSSwitch *string `json:"nsswitch,omitempty"`
	// Env holds the variables that resolvers read: RES_OPTIONS, LOCALDOMAIN, HOSTALIASES, GODEBUG.
	Env map[string]string `json:"env,omitempty"`
	// Families are those of the target's own addresses ("IPv4", "IPv6"), loopback and link-local ones aside; absent where they are not
	// known.
	Families []string `json:"families,omitempty"`
	// Unknown names the inputs that could not be read ("environment"), so that nothing is silently assumed.
	Unknown []string `json:"unknown,omitempty"`
}

// WhatIf is what a variant would do for one host.
type WhatIf struct {
	Host    string  `json:"host"`
	Variant string  `json:"variant"`
	Outcome Outcome `json:"outcome"`
	// Duration is the median of what was measured, else the prediction.
	Duration Millis `json:"durationMs"`
	// Fastest and Slowest bound what was measured, and Times is how often that was; absent for a prediction.
	Fastest     Millis `json:"fastestMs,omitempty"`
	Slowest     Millis `json:"slowestMs,omitempty"`
	Times       int    `json:"times,omitempty"`
	QueriesSent int    `json:"queriesSent"`
	// SameAnswer compares outcome and addresses with the settings as they are.
	SameAnswer bool `json:"sameAnswer"`
	// Source is "measured" or "predicted".
	Source string `json:"source"`
	Note   string `json:"note,omitempty"`
	// Libcs is what it would do in the containers of the pod that have another libc than that of the run; absent when there are none.
	Libcs []WhatIfLibc `json:"libcs,omitempty"`
}

// WhatIfLibc is what a variant would do for one host through another libc.
type WhatIfLibc struct {
	Libc        Libc    `json:"libc"`
	LibcVersion string  `json:"libcVersion,omitempty"`
	Outcome     Outcome `json:"outcome"`
	Duration    Millis  `json:"durationMs"`
	QueriesSent int     `json:"queriesSent"`
	// SameAnswer compares with the settings as they are through the same libc.
	SameAnswer bool   `json:"sameAnswer"`
	Source     string `json:"source"`
}

// Fact is something known about pod, node or cluster, or known to be unknown.
type Fact struct {
	// Value is empty when Unknown is set.
	Value string `json:"value,omitempty"`
	// Unknown says why the value is not known, and which permission would tell.
	Unknown string `json:"unknown,omitempty"`
	// Source is the API object or file it was read from.
	Source string `json:"source,omitempty"`
}

// Severity ranks findings.
type Severity string

// The severities, from least to most.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Finding is a verdict of one class, with evidence and remedies.
type Finding struct {
	Class    string   `json:"class"`
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`
	Explain  string   `json:"explain"`
	// Evidence points at what the verdict rests on.
	Evidence []Evidence `json:"evidence"`
	Remedies []Remedy   `json:"remedies"`
}

// Evidence is one observation: an attempt of a resolution, or a fact.
type Evidence struct {
	Text string `json:"text"`
	// Resolution and Attempt point into the trace; empty and 0 when the evidence is a fact.
	Resolution string `json:"resolution,omitempty"`
	Attempt    int    `json:"attempt,omitempty"`
	Fact       string `json:"fact,omitempty"`
}

// Remedy is something to do about a finding, best first.
type Remedy struct {
	Text string `json:"text"`
	// Gain is what it would change on this pod.
	Gain string `json:"gain,omitempty"`
	// Caveat is what is wrong with it here, or what it costs.
	Caveat string `json:"caveat,omitempty"`
}

// Patch is the dnsConfig change for the workload that owns the pod.
type Patch struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	// YAML is a strategic merge patch of the owner. It carries what the lists of dnsConfig have already, since they are atomic
	// (k8s.io/api core/v1 PodDNSConfig).
	YAML string `json:"yaml"`
	// Diff is the change against what the owner has now, lines with "+ ", "- " or two blanks before them.
	Diff string `json:"diff,omitempty"`
	// Command applies the patch; empty when the object cannot be changed in place (a bare pod, a Job).
	Command string `json:"command"`
	// Undo takes it back.
	Undo string `json:"undo,omitempty"`
	// Effect says what happens on apply.
	Effect string `json:"effect,omitempty"`
	// Variant names the settings that were checked ("ndots:2").
	Variant string      `json:"variant"`
	Names   []PatchName `json:"names"`
	// ManagedBy names what would take the change back ("Helm release payments"); absent when nothing is known to.
	ManagedBy string `json:"managedBy,omitempty"`
	// Caveats are sentences about what the change does not do, what it costs, and where it has to be made to last.
	Caveats []string `json:"caveats,omitempty"`
}

// PatchName is one name in use, before and after the patch.
type PatchName struct {
	Name   string     `json:"name"`
	Before NameResult `json:"before"`
	After  NameResult `json:"after"`
	// Same says that outcome and addresses are equal.
	Same bool `json:"same"`
	// Wanted says that they are not, and that this is what the change is for.
	Wanted bool   `json:"wanted,omitempty"`
	Note   string `json:"note,omitempty"`
	// Libcs is the same name through the other libcs of the pod's containers; absent when there are none.
	Libcs []PatchLibc `json:"libcs,omitempty"`
}

// PatchLibc is one name in use through another libc than that of the run, before and after the patch.
type PatchLibc struct {
	Libc        Libc       `json:"libc"`
	LibcVersion string     `json:"libcVersion,omitempty"`
	Before      NameResult `json:"before"`
	After       NameResult `json:"after"`
	Same        bool       `json:"same"`
	Wanted      bool       `json:"wanted,omitempty"`
}

// NameResult is how one name resolves under some settings.
type NameResult struct {
	Outcome     Outcome  `json:"outcome"`
	Addresses   []string `json:"addresses"`
	QueriesSent int      `json:"queriesSent"`
	Duration    Millis   `json:"durationMs"`
	Source      string   `json:"source"`
}

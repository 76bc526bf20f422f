package probe

// Ask asks for one resolution. In a session its events carry the asking message's id as their resolution.
type Ask struct {
	Host    string  `json:"host"`
	Variant Variant `json:"variant,omitzero"`
	// Purpose is what the resolution is for; empty means PurposeAsked.
	Purpose Purpose `json:"purpose,omitempty"`
	// Libc and LibcVersion override what was detected; empty means as detected.
	Libc        Libc   `json:"libc,omitempty"`
	LibcVersion string `json:"libcVersion,omitempty"`
	// Caller names who calls the libc, and how ("jvm", "dig"; package caller has the list); empty for a plain getaddrinfo.
	Caller string `json:"caller,omitempty"`
	// Question asks a server directly, in the place of any resolver; Libc, Caller and the settings play no part then.
	Question *Question `json:"question,omitempty"`
	// Types are the types to ask for; empty means both, as an AF_UNSPEC call does.
	Types []QueryType `json:"types,omitempty"`
	// AddrConfig sets AI_ADDRCONFIG.
	AddrConfig bool `json:"addrConfig,omitempty"`
	// Timeout bounds the whole resolution; 0 means the bound of whoever carries it out.
	Timeout Millis `json:"timeoutMs,omitempty"`
	// MostMessages bounds the messages that may be sent for it; 0 means as many as it takes.
	MostMessages int `json:"mostMessages,omitempty"`
}

// Purpose is what a resolution is for. Reports show in full only what somebody asked for; the rest is evidence.
type Purpose string

// The purposes of a resolution.
const (
	// PurposeAsked is the resolution of a host that somebody typed, under the settings as they are.
	PurposeAsked Purpose = "asked"
	// PurposeAlso is that of a name that must keep working.
	PurposeAlso Purpose = "also"
	// PurposeRepeat repeats one, to tell an accident from a fault.
	PurposeRepeat Purpose = "repeat"
	// PurposeWhatIf compares variants; the settings as they are can be one of them.
	PurposeWhatIf Purpose = "what-if"
	// PurposeTest asks for something that a verdict hangs on, such as a random name.
	PurposeTest Purpose = "test"
	// PurposeCompare follows a host through another libc than that of the run, under the settings as they are or under a variant.
	PurposeCompare Purpose = "compare"
)

// OrAsked returns p, or PurposeAsked when it is empty.
func (p Purpose) OrAsked() Purpose {
	if p == "" {
		return PurposeAsked
	}
	return p
}

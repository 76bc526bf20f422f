package probe

// Ask asks for one resolution. In a session its events carry the asking message's id as their resolution.
type Ask struct {
	Host    string  `json:"host"`
	Variant Variant `json:"variant,omitzero"`
	// Libc and LibcVersion override what was detected; empty means as detected.
	Libc        Libc   `json:"libc,omitempty"`
	LibcVersion string `json:"libcVersion,omitempty"`
	// Types are the types to ask for; empty means both, as an AF_UNSPEC call does.
	Types []QueryType `json:"types,omitempty"`
	// AddrConfig sets AI_ADDRCONFIG.
	AddrConfig bool `json:"addrConfig,omitempty"`
	// Timeout bounds the whole resolution; 0 means the bound of whoever carries it out.
	Timeout Millis `json:"timeoutMs,omitempty"`
}

package probe

// Variant is the settings with something changed. The zero Variant changes nothing.
type Variant struct {
	// Name is how people read it: "ndots:2", "trailing dot". Empty means VariantNow.
	Name string `json:"name,omitempty"`
	// Options are resolv.conf options to set, as words ("ndots:2", "single-request"); they replace an option of the same
	// name. A word with a leading "-" takes the option away.
	Options []string `json:"options,omitempty"`
	// TrailingDot asks for the host as a fully qualified name.
	TrailingDot bool `json:"trailingDot,omitempty"`
	// Search replaces the search list, and Nameservers the addresses of the servers. Nil leaves them as they are; an empty list
	// takes them away.
	Search      []string `json:"search,omitzero"`
	Nameservers []string `json:"nameservers,omitzero"`
}

// VariantDot names the variant that asks for the host as a fully qualified name.
const VariantDot = "trailing dot"

// Label returns the variant's name for people and traces.
func (v Variant) Label() string {
	if v.Name == "" {
		return VariantNow
	}
	return v.Name
}

// OptionsOnly says whether v changes nothing but resolv.conf options.
func (v Variant) OptionsOnly() bool {
	return len(v.Options) > 0 && !v.TrailingDot && v.Search == nil && v.Nameservers == nil
}

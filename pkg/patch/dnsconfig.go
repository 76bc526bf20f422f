package patch

import (
	"slices"
	"strconv"
)

// DNSConfig is a pod template's dnsConfig (k8s.io/api core/v1 PodDNSConfig). All three lists are atomic: a patch that names one
// replaces it whole, and leaves the others alone.
type DNSConfig struct {
	Nameservers []string
	Searches    []string
	Options     []Option
}

// Option is an entry of dnsConfig.options (core/v1 PodDNSConfigOption).
type Option struct {
	Name string `json:"name"`
	// Value is absent for options that take none ("single-request").
	Value *string `json:"value,omitempty"`
}

// ndotsOption is the option's name in resolv.conf(5).
const ndotsOption = "ndots"

// withNdots returns options with ndots set: in place where it stands, else at the end. Repetitions, of which the kubelet takes
// the last one (k8s.io/kubernetes pkg/kubelet/network/dns, mergeDNSOptions), become one.
func withNdots(options []Option, ndots int) []Option {
	value := strconv.Itoa(ndots)
	ours := Option{Name: ndotsOption, Value: &value}
	out := make([]Option, 0, len(options)+1)
	for _, o := range options {
		if o.Name != ndotsOption {
			out = append(out, o)
		} else if !slices.ContainsFunc(out, func(o Option) bool { return o.Name == ndotsOption }) {
			out = append(out, ours)
		}
	}
	if !slices.ContainsFunc(out, func(o Option) bool { return o.Name == ndotsOption }) {
		out = append(out, ours)
	}
	return out
}

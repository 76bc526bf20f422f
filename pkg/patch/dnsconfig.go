package patch

import "slices"

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

// withOptions returns options with those of set: in place where they stand, else at the end. Repetitions, of which the kubelet takes
// the last one (k8s.io/kubernetes pkg/kubelet/network/dns, mergeDNSOptions), become one.
func withOptions(options, set []Option) []Option {
	out := slices.Clone(options)
	for _, ours := range set {
		i := slices.IndexFunc(out, func(o Option) bool { return o.Name == ours.Name })
		if i < 0 {
			out = append(out, ours)
			continue
		}
		out[i] = ours
		rest := slices.DeleteFunc(out[i+1:], func(o Option) bool { return o.Name == ours.Name })
		out = out[:i+1+len(rest)]
	}
	return out
}

package fact

import (
	"fmt"
	"net/netip"
	"strings"
)

// Service is a Service that a host could mean: "ClusterIP 10.96.33.3 ready=2", "headless ready=1 not-ready=1", "headless
// ready=1 publish-not-ready", "ExternalName db.example.com", or none.
type Service struct {
	Name, Namespace string
	// Exists is false for a Service that is known not to be there; nothing else is set then.
	Exists bool
	// ClusterIP is invalid for a headless Service and for an ExternalName.
	ClusterIP netip.Addr
	Headless  bool
	// ExternalName is the name it is an alias of.
	ExternalName    string
	Ready, NotReady int
	// PublishNotReady is spec.publishNotReadyAddresses.
	PublishNotReady bool
	// EndpointsUnknown is set where nobody knows how many endpoints there are: Ready and NotReady then say nothing. In text the
	// counts are left out.
	EndpointsUnknown bool
}

// Text writes s as Facts.Service reads it.
func (s Service) Text() string {
	var words []string
	switch {
	case !s.Exists:
		return None
	case s.ExternalName != "":
		return "ExternalName " + word(s.ExternalName)
	case s.Headless:
		words = append(words, "headless")
	default:
		words = append(words, "ClusterIP", s.ClusterIP.String())
	}
	if !s.EndpointsUnknown {
		words = append(words, fmt.Sprintf("ready=%d", s.Ready))
	}
	if s.NotReady > 0 && !s.EndpointsUnknown {
		words = append(words, fmt.Sprintf("not-ready=%d", s.NotReady))
	}
	if s.PublishNotReady {
		words = append(words, "publish-not-ready")
	}
	return strings.Join(words, " ")
}

// ServiceName is the name of the fact about a Service.
func ServiceName(name, namespace string) string { return ServicePrefix + name + "." + namespace }

// Service returns what is known of a Service; known is false when nobody knows.
func (f Facts) Service(name, namespace string) (s Service, known bool) {
	text, known := f.Text(ServiceName(name, namespace))
	if !known {
		return Service{}, false
	}
	s = Service{Name: name, Namespace: namespace, Exists: text != None}
	if !s.Exists {
		return s, true
	}
	words := strings.Fields(text)
	switch {
	case len(words) == 0:
		return Service{}, false
	case words[0] == "ExternalName" && len(words) > 1:
		s.ExternalName = words[1]
		return s, true
	case words[0] == "headless":
		s.Headless = true
	case words[0] == "ClusterIP" && len(words) > 1:
		addr, err := parseAddr(words[1])
		if err != nil {
			return Service{}, false
		}
		s.ClusterIP = addr
	default:
		return Service{}, false
	}
	s.EndpointsUnknown = valueOf(words, "ready") == "" && valueOf(words, "not-ready") == ""
	s.Ready, s.NotReady, s.PublishNotReady = number(valueOf(words, "ready")), number(valueOf(words, "not-ready")), has(words, "publish-not-ready")
	return s, true
}

// Peer is a pod that a host could mean, one behind a headless Service: "10.244.1.21 not-ready phase=Running node=node-b", or none.
type Peer struct {
	Name, Namespace string
	Exists, Ready   bool
	Address         netip.Addr
	Phase, Node     string
}

// Text writes p as Facts.Peer reads it.
func (p Peer) Text() string {
	if !p.Exists {
		return None
	}
	var words []string
	if p.Address.IsValid() {
		words = append(words, p.Address.String())
	}
	if p.Ready {
		words = append(words, "ready")
	} else {
		words = append(words, "not-ready")
	}
	if p.Phase != "" {
		words = append(words, "phase="+word(p.Phase))
	}
	if p.Node != "" {
		words = append(words, "node="+word(p.Node))
	}
	return strings.Join(words, " ")
}

// PodName is the name of the fact about a pod.
func PodName(name, namespace string) string { return PodPrefix + name + "." + namespace }

// Peer returns what is known of a pod; known is false when nobody knows.
func (f Facts) Peer(name, namespace string) (p Peer, known bool) {
	text, known := f.Text(PodName(name, namespace))
	if !known {
		return Peer{}, false
	}
	p = Peer{Name: name, Namespace: namespace, Exists: text != None}
	if !p.Exists {
		return p, true
	}
	words := strings.Fields(text)
	p.Ready, p.Phase, p.Node = has(words, "ready"), valueOf(words, "phase"), valueOf(words, "node")
	if list := Addresses(text); len(list) > 0 {
		p.Address = list[0]
	}
	return p, true
}

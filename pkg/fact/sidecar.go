package fact

import "strings"

// Sidecar is a container of a service mesh in the pod: "istio-proxy capture=true".
type Sidecar struct {
	// Exists is false where it is known that there is none; nothing else is set then.
	Exists bool
	// Name is that of the container, or of the mesh where it has none in the pod.
	Name string
	// Capture says whether it takes the pod's DNS messages: "true", "false", or "unknown" where the pod's spec does not tell.
	Capture string
}

// Text writes s as Facts.Sidecar reads it.
func (s Sidecar) Text() string {
	if !s.Exists {
		return None
	}
	capture := word(s.Capture)
	if capture == "" {
		capture = "unknown"
	}
	return orUnknown(word(s.Name)) + " capture=" + capture
}

// Sidecar returns what the fact Mesh says; known is false when nobody knows.
func (f Facts) Sidecar() (s Sidecar, known bool) {
	text, known := f.Text(Mesh)
	words := strings.Fields(text)
	if !known || len(words) == 0 {
		return Sidecar{}, false
	}
	if text == None {
		return Sidecar{}, true
	}
	s = Sidecar{Exists: true, Name: words[0], Capture: valueOf(words, "capture")}
	if s.Capture == "" {
		s.Capture = "unknown"
	}
	return s, true
}

package probe

// Comparison is one host followed through several libcs, with the same settings and questions.
type Comparison struct {
	Host string `json:"host"`
	// Libcs are the libcs, that of the run first; the others are compared with it.
	Libcs []LibcResult `json:"libcs"`
}

// LibcResult is what one libc makes of a host.
type LibcResult struct {
	// Resolution is the id of its resolution (Resolution.ID), which has everything in full.
	Resolution  string   `json:"resolution"`
	Libc        Libc     `json:"libc"`
	LibcVersion string   `json:"libcVersion,omitempty"`
	Outcome     Outcome  `json:"outcome"`
	Code        string   `json:"code,omitempty"`
	Addresses   []string `json:"addresses"`
	// Attempts counts the names tried; the other counts are those of Resolution.
	Attempts          int    `json:"attempts"`
	QueriesSent       int    `json:"queriesSent"`
	TransmissionsSent int    `json:"transmissionsSent"`
	Duration          Millis `json:"durationMs"`
	// DecidedBy is the N of the attempt that decided, 0 when none did.
	DecidedBy int `json:"decidedBy,omitempty"`
	// PartsAt is the N of the first attempt at which it parts from the first of Libcs, or of the one that only one of them makes; 0 when
	// it makes the same attempts with the same messages and outcomes, or when they part before the first attempt.
	PartsAt int `json:"partsAt,omitempty"`
	// Same says that it does not part from the first of Libcs; it is set on that one too.
	Same bool `json:"same"`
	// What says in a sentence what differs there, empty when nothing does.
	What string `json:"what,omitempty"`
	// Why says in a sentence why, empty when the reason is not known.
	Why string `json:"why,omitempty"`
}

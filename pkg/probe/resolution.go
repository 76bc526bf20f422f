package probe

import "time"

// QueryType is the type of a query.
type QueryType string

// The two types of a pair, and those that some callers ask for beside them.
const (
	TypeA    QueryType = "A"
	TypeAAAA QueryType = "AAAA"
	TypeSRV  QueryType = "SRV"
	TypeTXT  QueryType = "TXT"
)

// Transport is the transport of a transmission.
type Transport string

// The transports a stub resolver uses.
const (
	UDP Transport = "udp"
	TCP Transport = "tcp"
)

// Origin says where the name of an attempt comes from.
type Origin string

// The origins of an attempt.
const (
	OriginSearch Origin = "search"
	OriginAsIs   Origin = "as-is"
)

// Outcome is how a resolution or an attempt ended. The empty outcome means: not ended yet.
//
// A resolution ends with one of ok, nxdomain, nodata, again, fail. An attempt also knows the finer ones.
type Outcome string

// Outcomes of resolutions and attempts.
const (
	OK       Outcome = "ok"
	NXDomain Outcome = "nxdomain"
	NoData   Outcome = "nodata"
	// Again is a temporary failure (EAI_AGAIN): timeout, SERVFAIL, REFUSED.
	Again Outcome = "again"
	// Fail is a permanent failure that is none of the others.
	Fail Outcome = "fail"

	ServFail    Outcome = "servfail"
	Refused     Outcome = "refused"
	FormErr     Outcome = "formerr"
	NotImp      Outcome = "notimp"
	Lame        Outcome = "lame"
	Timeout     Outcome = "timeout"
	Unreachable Outcome = "unreachable"
	// Unsent is an attempt whose name cannot be sent (too long, malformed).
	Unsent Outcome = "unsent"
)

// Resolution is one getaddrinfo-like call for one host by one libc, as far as it has come.
type Resolution struct {
	// ID tells resolutions of one session apart.
	ID   string `json:"id"`
	Host string `json:"host"`
	// Variant names what was changed in the settings; "now" when nothing was.
	Variant string `json:"variant"`
	Libc    Libc   `json:"libc"`
	// LibcVersion is the version that was followed ("2.36-9+deb12u14", "1.2.5").
	LibcVersion string  `json:"libcVersion,omitempty"`
	Outcome     Outcome `json:"outcome"`
	// Code is the error as the libc reports it ("EAI_NONAME"), empty on success.
	Code      string    `json:"code,omitempty"`
	Addresses []string  `json:"addresses"`
	StartedAt time.Time `json:"startedAt"`
	Duration  Millis    `json:"durationMs"`
	// QueriesSent counts (attempt, type) pairs of which at least one message was sent.
	QueriesSent int `json:"queriesSent"`
	// QueriesWasted counts the queries of all attempts but the one that decided the outcome.
	QueriesWasted int `json:"queriesWasted"`
	// TransmissionsSent counts messages, retransmissions included.
	TransmissionsSent int `json:"transmissionsSent"`
	// AnsweredBy is "dns", or what made DNS unnecessary: "literal", "hosts".
	AnsweredBy string    `json:"answeredBy,omitempty"`
	Attempts   []Attempt `json:"attempts"`
	// Notes are remarks of the resolver: a sticky fallback in force, a call that would hang.
	Notes []string `json:"notes,omitempty"`
	// Source is "measured" on a real network, "predicted" on a modelled one.
	Source string `json:"source,omitempty"`
	// Purpose is what the resolution was for.
	Purpose Purpose `json:"purpose"`
	// Question is set where a server was asked directly, in the place of any resolver.
	Question *Question `json:"question,omitempty"`
}

// The sources of a resolution.
const (
	Measured  = "measured"
	Predicted = "predicted"
)

// VariantNow names the settings as they are.
const VariantNow = "now"

// Attempt is one candidate name tried in a resolution.
type Attempt struct {
	// N counts from 1.
	N int `json:"n"`
	// Name is fully qualified, with its final dot, in presentation format (RFC 4343 escapes).
	Name   string `json:"name"`
	Origin Origin `json:"origin"`
	// SearchIndex counts search domains from 0; -1 for as-is.
	SearchIndex int     `json:"searchIndex"`
	Outcome     Outcome `json:"outcome"`
	// Decided is set on the attempt that decided the outcome of its resolution.
	Decided  bool    `json:"decided,omitempty"`
	Start    Millis  `json:"startMs"`
	Duration Millis  `json:"durationMs"`
	Queries  []Query `json:"queries"`
}

// Query is one (attempt, type).
type Query struct {
	Type QueryType `json:"type"`
	// Rcode is the rcode of the reply that counted ("NOERROR", "NXDOMAIN"), empty when none did.
	Rcode   string   `json:"rcode"`
	Answers []Answer `json:"answers"`
	// RTT is the time from the transmission that was answered to its reply; absent without a reply.
	RTT           *Millis        `json:"rttMs"`
	Transmissions []Transmission `json:"transmissions"`
}

// Answer is one record of a reply's answer section.
type Answer struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// TTL is in seconds.
	TTL uint32 `json:"ttl"`
	// Data is the record's data in presentation format.
	Data string `json:"data"`
}

// Transmission is one message sent for a query, and what came of it.
type Transmission struct {
	// Try counts the messages of this query from 1.
	Try       int       `json:"try"`
	Server    string    `json:"server"`
	Transport Transport `json:"transport"`
	// Socket counts the sockets of the resolution from 1. Equal numbers share a socket and so a source port.
	Socket int `json:"socket"`
	// LocalPort is the source port, 0 when unknown.
	LocalPort uint16 `json:"localPort,omitempty"`
	ID        uint16 `json:"id"`
	Sent      Millis `json:"sentMs"`
	// Reply is the rcode of the reply, or what came in its place: "lost", "icmp-refused", "closed". Empty while waiting.
	Reply string `json:"reply"`
	// Received is absent when nothing came.
	Received *Millis `json:"receivedMs"`
	// Flags are the header flags of the reply ("AA", "TC", "RD", "RA", "AD").
	Flags []string `json:"flags,omitempty"`
	// Size is the reply's size in bytes.
	Size int `json:"size,omitempty"`
	// SOAMinimum is the MINIMUM field (seconds) of a negative reply's SOA record (RFC 2308); absent without one.
	SOAMinimum *uint32 `json:"soaMinimum,omitempty"`
	// Use says what the libc did with the reply: "accepted", "rejected", "ignored".
	Use string `json:"use,omitempty"`
	// Ambiguous is set when an earlier transmission on the same socket with the same id could have caused the reply too.
	Ambiguous bool `json:"ambiguous,omitempty"`
}

// What stands in Transmission.Reply when no DNS reply came.
const (
	ReplyLost        = "lost"
	ReplyICMPRefused = "icmp-refused"
	ReplyClosed      = "closed"
	// ReplyUnreachable: ICMP says that the host or network cannot be reached.
	ReplyUnreachable = "icmp-unreachable"
	// ReplyAbandoned: the libc closed the socket before a reply could come, for its own reasons. Nothing is known to be lost.
	ReplyAbandoned = "abandoned"
)

// What a libc can do with a reply.
const (
	UseAccepted = "accepted"
	UseRejected = "rejected"
	UseIgnored  = "ignored"
)

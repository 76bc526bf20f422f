package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Engine carries out what clients ask for, in the place where the hub runs. The hub calls it from several goroutines.
type Engine interface {
	// Read reads the target's settings and libc, and reports what it found as events that belong to no resolution.
	Read(ctx context.Context, emit func(probe.Event)) error
	// Resolve carries out one resolution and reports every event of it under id, KindBegin first. An error means that it could
	// not be carried out, not that the host did not resolve.
	Resolve(ctx context.Context, id string, ask probe.Ask, emit func(probe.Event)) error
}

// Config is what a hub needs to know. The zero value of a limit means the default that its comment gives.
type Config struct {
	// Version is the program's, told to clients.
	Version string
	Engine  Engine
	// Idle ends the hub when nobody has been attached and nothing has run for so long: 15 minutes.
	Idle time.Duration
	// KeepAfterLast ends the hub so long after the last client has left and the last resolution has ended; nil means Idle.
	KeepAfterLast *time.Duration
	// Silence is how long a client may say nothing before it counts as gone: 60 seconds. Client pings more often than that.
	Silence time.Duration
	// Parallel is how many resolutions run at the same time: 4. The others wait in the order in which they were asked.
	Parallel int
	// Longest bounds one resolution, whatever its ask says: 4 minutes. It is a last resort behind the engine's own bound.
	Longest time.Duration
	// HistoryBytes bounds the history: 2 MiB. BehindBytes bounds how far a client may fall behind: 1 MiB.
	HistoryBytes, BehindBytes int
	// Log takes what only a developer can use, such as the stack of a panic. May be nil.
	Log func(string)
}

// Limits that nobody needs to change.
const (
	// helloWithin is how long a new connection may take to say hello.
	helloWithin = 10 * time.Second
	// flushWithin is how long the last lines to a client may take.
	flushWithin = 2 * time.Second
	// mostClients and mostJobs bound what a client gone mad can occupy.
	mostClients = 64
	mostJobs    = 256
	// mostIDs is how many ids of the past are remembered, to refuse one that is used twice.
	mostIDs = 4096
	maxID   = 128
	maxName = 64
)

func (c Config) withDefaults() Config {
	setDefault(&c.Idle, 15*time.Minute)
	setDefault(&c.Silence, time.Minute)
	setDefault(&c.Parallel, 4)
	setDefault(&c.Longest, 4*time.Minute)
	setDefault(&c.HistoryBytes, 2<<20)
	setDefault(&c.BehindBytes, 1<<20)
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Hub is the one place where a session happens: it takes requests from clients, has the engine carry them out, and tells
// everything to everybody. It is safe for concurrent use.
type Hub struct {
	cfg     Config
	session string
	slots   chan struct{}
	ended   chan struct{}
	ctx     context.Context
	stop    context.CancelFunc
	// working counts the goroutines of clients and jobs, for Serve to wait for.
	working sync.WaitGroup

	mu      sync.Mutex
	reason  string
	members map[*member]struct{}
	// persons counts everybody who ever joined; their ids are never reused.
	persons int
	history history
	seq     int64
	jobs    map[string]*job
	ids     usedIDs
	idle    *time.Timer
}

// NewHub returns a hub that waits for clients. Its idle limit runs from now.
func NewHub(cfg Config) *Hub {
	cfg = cfg.withDefaults()
	ctx, stop := context.WithCancel(context.Background())
	h := &Hub{
		cfg: cfg, session: strconv.FormatUint(rand.Uint64(), 36), slots: make(chan struct{}, cfg.Parallel),
		ended: make(chan struct{}), ctx: ctx, stop: stop,
		members: map[*member]struct{}{}, jobs: map[string]*job{}, history: history{limit: cfg.HistoryBytes},
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchIdle()
	return h
}

// Serve accepts clients until the hub ends or ctx does, and returns why it ended. It closes l. An error means that it
// could not accept clients any more.
func (h *Hub) Serve(ctx context.Context, l net.Listener) (reason string, err error) {
	failed := make(chan error, 1)
	accepting := make(chan struct{})
	go func() { //nolint:contextcheck // What a client asks for lives as long as the hub, which ends with ctx.
		defer close(accepting)
		failed <- h.accept(l)
	}()
	select {
	case <-ctx.Done():
		h.End("the probe was told to stop")
	case <-h.ended:
	case err = <-failed:
		h.End("the probe cannot accept clients any more")
	}
	_ = l.Close() // The listener may have failed already, and nothing depends on it now.
	<-accepting   // No client may come while wait counts them.
	h.wait()
	return h.Reason(), err
}

func (h *Hub) accept(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return fmt.Errorf("accept a client on %s: %w", l.Addr(), err)
		}
		h.working.Go(func() { h.Attach(conn) })
	}
}

// wait gives the last lines time to reach the clients.
func (h *Hub) wait() {
	done := make(chan struct{})
	go func() { h.working.Wait(); close(done) }()
	timer := time.NewTimer(flushWithin)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// Ended is closed when the hub ends; Reason then tells why.
func (h *Hub) Ended() <-chan struct{} { return h.ended }

// Reason tells why the hub ended, empty while it has not.
func (h *Hub) Reason() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reason
}

// Start reads the target's settings for the first time, so that they open the history.
func (h *Hub) Start() {
	h.mu.Lock()
	defer h.mu.Unlock()
	// Nobody is there to hear a refusal, and a hub that has just been made refuses nothing.
	_ = h.startRead(nil, "start")
}

// End ends the session: running resolutions are stopped and everybody is told the reason.
func (h *Hub) End(reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end(reason)
}

func (h *Hub) end(reason string) {
	if h.reason != "" {
		return
	}
	h.reason = reason
	if h.idle != nil {
		h.idle.Stop()
	}
	h.stop()
	for m := range h.members {
		m.goodbye(reason)
	}
	close(h.ended)
}

// watchIdle starts or stops the idle limit after clients or jobs have changed. h.mu is held.
func (h *Hub) watchIdle() {
	if h.idle != nil {
		h.idle.Stop()
	}
	if h.reason != "" || len(h.members) > 0 || len(h.jobs) > 0 {
		return
	}
	limit, reason := h.cfg.Idle, "nobody was attached for "+h.cfg.Idle.String()
	if k := h.cfg.KeepAfterLast; k != nil && h.persons > 0 {
		limit, reason = *k, "the last client has left"
	}
	if limit <= 0 {
		h.end(reason)
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(limit, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		// A timer that fires while it is being stopped must not end a session that somebody has just joined.
		if h.idle == timer && len(h.members) == 0 && len(h.jobs) == 0 {
			h.end(reason)
		}
	})
	h.idle = timer
}

// emit numbers an event, keeps it and sends it to everybody.
func (h *Hub) emit(ev probe.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reason != "" {
		return
	}
	h.seq++
	ev.Seq = h.seq
	line, err := encode(Message{Type: TypeEvent, Event: &ev})
	if err == nil && len(line) > MaxMessage {
		err = fmt.Errorf("it is %d bytes long, over the bound of %d", len(line), MaxMessage)
	}
	if err != nil {
		ev = probe.Event{
			Kind: probe.KindProblem, Seq: h.seq, Resolution: ev.Resolution,
			Note: fmt.Sprintf("left out a %s event: %v", ev.Kind, err),
		}
		if line, err = encode(Message{Type: TypeEvent, Event: &ev}); err != nil {
			return
		}
	}
	h.history.add(record{seq: h.seq, kind: ev.Kind, line: line})
	h.sendAll(line, nil)
}

// tellAll sends a message that is no event to everybody but one. h.mu is held.
func (h *Hub) tellAll(m Message, but *member) {
	line, err := encode(m)
	if err != nil {
		return
	}
	h.sendAll(line, but)
}

// sendAll queues a line for everybody but one; who is too far behind is dropped. h.mu is held.
func (h *Hub) sendAll(line []byte, but *member) {
	var slow []*member
	for m := range h.members {
		if m != but && !m.out.put(line) {
			slow = append(slow, m)
		}
	}
	for _, m := range slow {
		m.drop(fmt.Sprintf("dropped: more than %d bytes behind, the connection is too slow; attach again", h.cfg.BehindBytes))
		h.remove(m)
	}
}

// remove takes a member out of the session and tells the others. h.mu is held.
func (h *Hub) remove(m *member) {
	if _, there := h.members[m]; !there {
		return
	}
	delete(h.members, m)
	for _, j := range h.jobs {
		// What runs goes on to its end: the client may come back for it, and others may be watching.
		if j.owner == m && !j.running {
			j.stop()
		}
	}
	h.tellAll(Message{Type: TypeLeft, Person: &m.person}, nil)
	h.watchIdle()
}

// errFull is why a request is refused for the number of those before it.
var errFull = errors.New("too many requests are waiting: wait for some to end")

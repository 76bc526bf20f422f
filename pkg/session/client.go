package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Options are how a client joins a session.
type Options struct {
	// Version is the program's, told to the hub.
	Version string
	// Name is how the others see this client.
	Name string
	// Session and After let a client that was cut off go on: the Session of its old Hello, and LastSeq. The hub then sends only
	// what was missed; if its life is another one, it sends everything and Hello().Session differs.
	Session string
	After   int64
	// NoHistory leaves out what happened before this client came, which then makes no answer wait.
	NoHistory bool
	// Events takes every event of the session in order, the history first, whoever asked for it. It is called from one
	// goroutine and must not call the Client, nor wait for long: a client that falls too far behind is dropped. May be nil.
	Events func(probe.Event)
	// Others takes every message that is no event, for those who show who is there. Like Events; may be nil.
	Others func(Message)
	// ReadAtOnce sends the request to read the target's settings right behind hello, which saves a round trip. The first Read
	// then waits for that one.
	ReadAtOnce bool
	// Ping is how often the client makes sure that the hub is there: 15 seconds. When nothing at all was heard for three
	// times as long, the stream counts as cut.
	Ping time.Duration
}

// goodbyeWithin is how long a client that leaves waits for the hub's own goodbye.
const goodbyeWithin = 500 * time.Millisecond

// Client is one side of a session: it asks for resolutions and hears everything. It carries out experiment.Prober. It is
// safe for concurrent use.
type Client struct {
	// closeStream closes the stream once.
	closeStream func() error
	opts        Options
	hello       Hello
	out         *outbox
	// gone is closed when the stream has ended; err is set before.
	gone chan struct{}
	// heard is signalled for every message, for the watch over silence.
	heard chan struct{}

	mu      sync.Mutex
	err     *CutError
	next    int
	waiting map[string]*call
	lastSeq int64
	// early is the reading that was asked for right behind hello, until somebody waits for it.
	early *call
}

// call is a request that waits to be done.
type call struct {
	id   string
	fold probe.Fold
	emit func(probe.Event)
	done chan string
}

// Dial opens a session over stream, which it owns from then on, and returns once the hub has said hello. Errors: a
// *RefusedError in the hub's words (another protocol, too many clients), a *ProtocolError, a *CutError, or ctx's.
func Dial(ctx context.Context, stream io.ReadWriteCloser, opts Options) (*Client, error) {
	setDefault(&opts.Ping, 15*time.Second)
	c := &Client{
		closeStream: sync.OnceValue(stream.Close), opts: opts, out: newOutbox(1 << 20), gone: make(chan struct{}), heard: make(chan struct{}, 1),
		waiting: map[string]*call{}, lastSeq: opts.After,
	}
	in := NewDecoder(stream, MaxMessage)
	greeted := make(chan error, 1)
	go func() { _ = c.out.writeTo(stream) }() // A stream that cannot be written to is noticed by its reader.
	c.send(Message{Type: TypeHello, Hello: &Hello{
		Protocol: Protocol, Version: opts.Version, Name: opts.Name, Session: opts.Session, After: opts.After, NoHistory: opts.NoHistory,
	}})
	if opts.ReadAtOnce {
		c.readEarly()
	}
	go func() {
		err := c.greet(in)
		greeted <- err
		if err == nil {
			c.read(in)
		}
	}()
	select {
	case err := <-greeted:
		if err != nil {
			_ = c.hangUp() // The session failed already.
			return nil, err
		}
	case <-ctx.Done():
		_ = c.hangUp() // The session failed already.
		return nil, fmt.Errorf("join the session: no answer from the agent: %w", ctx.Err())
	}
	go c.watch()
	return c, nil
}

// greet reads the hub's hello.
func (c *Client) greet(in *Decoder) error {
	const what = "join the session"
	m, err := in.Decode()
	switch {
	case errors.Is(err, io.EOF):
		return &CutError{Doing: what, Err: io.ErrUnexpectedEOF}
	case err != nil:
		return &CutError{Doing: what, Err: err}
	case m.Type == TypeError:
		return &RefusedError{What: what, Reason: m.Error}
	case m.Type == TypeBye:
		return &CutError{Doing: what, Reason: m.Reason}
	case m.Type != TypeHello || m.Hello == nil:
		return &CutError{Doing: what, Err: fmt.Errorf("the first message is %q instead of hello", m.Type)}
	case m.Hello.Protocol != Protocol:
		return &ProtocolError{Asked: Protocol, Spoken: m.Hello.Protocol}
	}
	c.hello = *m.Hello
	if c.hello.Session != c.opts.Session {
		c.lastSeq = 0
	}
	return nil
}

// Hello returns what the hub said when this client joined.
func (c *Client) Hello() Hello { return c.hello }

// LastSeq returns the number of the newest event seen.
func (c *Client) LastSeq() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastSeq
}

// Done is closed when the session is over; Err then tells why.
func (c *Client) Done() <-chan struct{} { return c.gone }

// Err returns why the session is over, a *CutError; nil while it is not.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return nil
	}
	return c.err
}

// Resolve has the hub carry out one resolution, and returns it when it is done. A host that does not resolve is no error.
// Errors: ctx's (the hub is told to stop), a *RefusedError when the agent could not carry it out, a *CutError when the
// session ended first. What was seen until then is returned with the error.
func (c *Client) Resolve(ctx context.Context, ask probe.Ask) (probe.Resolution, error) {
	return c.ResolveLive(ctx, ask, nil)
}

// ResolveLive is Resolve with the events of this resolution going to emit as well, under the rules of Options.Events.
func (c *Client) ResolveLive(ctx context.Context, ask probe.Ask, emit func(probe.Event)) (probe.Resolution, error) {
	what := fmt.Sprintf("resolve %q", ask.Host)
	w := &call{emit: emit, done: make(chan string, 1)}
	c.enlist(w)
	err := c.request(ctx, what, Message{Type: TypeResolve, ID: w.id, Resolve: &ask}, w)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, w.id)
	r := probe.Resolution{ID: w.id, Host: ask.Host, Variant: ask.Variant.Label()}
	if seen := w.fold.Resolution(w.id); seen != nil {
		r = *seen
	} else if err == nil {
		err = &RefusedError{What: what, Reason: "it is done, but no event of it came"}
	}
	return r, err
}

// Read has the hub read the target's settings again; what it finds comes as events. Errors are those of Resolve.
func (c *Client) Read(ctx context.Context) error {
	const what = "read the target's settings"
	w := c.takeEarly()
	var err error
	if w != nil {
		err = c.await(ctx, what, w)
	} else {
		w = &call{done: make(chan string, 1)}
		c.enlist(w)
		err = c.request(ctx, what, Message{Type: TypeRead, ID: w.id}, w)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, w.id)
	return err
}

// readEarly asks for a reading before the hub has said who this client is: only chance keeps its id apart from those of others.
func (c *Client) readEarly() {
	w := &call{id: cleanName(c.opts.Name) + "-" + rand.Text(), done: make(chan string, 1)}
	c.mu.Lock()
	c.waiting[w.id], c.early = w, w
	c.mu.Unlock()
	c.send(Message{Type: TypeRead, ID: w.id})
}

// takeEarly returns the reading that was asked for early, once.
func (c *Client) takeEarly() *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.early
	c.early = nil
	return w
}

// Shutdown asks the hub to end, for everybody, and waits until it has.
func (c *Client) Shutdown(ctx context.Context) error {
	c.send(Message{Type: TypeShutdown})
	select {
	case <-c.gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("end the session: %w", ctx.Err())
	}
}

// Close leaves the session in good order and closes the stream. Others stay in it.
func (c *Client) Close() error {
	line, err := encode(Message{Type: TypeBye})
	if err != nil {
		line = nil
	}
	c.out.close(line)
	// The hub answers a bye by closing its side. One that no longer answers must not keep us.
	timer := time.NewTimer(goodbyeWithin)
	defer timer.Stop()
	select {
	case <-c.gone:
	case <-timer.C:
	}
	err = c.hangUp()
	c.end(&CutError{Doing: "session", Reason: "closed by this side"})
	return err
}

// hangUp closes the stream. Only the first call does, and all return its error: whoever notices the end first hangs up.
func (c *Client) hangUp() error {
	c.out.abandon(nil)
	return c.closeStream()
}

// enlist gives a request its id and remembers who waits for it.
func (c *Client) enlist(w *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	// The hub gives every client an id of its own, so that no two choose the same.
	w.id = cleanName(c.opts.Name) + "." + c.hello.You + "-" + strconv.Itoa(c.next)
	c.waiting[w.id] = w
}

// request sends m and waits until the hub says that it is done.
func (c *Client) request(ctx context.Context, what string, m Message, w *call) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	c.send(m)
	return c.await(ctx, what, w)
}

// await waits until the hub says that a request is done.
func (c *Client) await(ctx context.Context, what string, w *call) error {
	select {
	case refusal := <-w.done:
		return refused(what, refusal)
	case <-ctx.Done():
		c.send(Message{Type: TypeCancel, ID: w.id})
		return fmt.Errorf("%s: %w", what, ctx.Err())
	case <-c.gone:
	}
	select {
	case refusal := <-w.done: // It was done before the stream ended.
		return refused(what, refusal)
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return &CutError{Doing: what, Reason: c.err.Reason, Err: c.err.Err}
}

func refused(what, reason string) error {
	if reason == "" {
		return nil
	}
	return &RefusedError{What: what, Reason: reason}
}

// send queues a message for the hub. One that does not fit means that the hub has not read for long: the stream is dead.
func (c *Client) send(m Message) {
	line, err := encode(m)
	if err == nil && !c.out.put(line) {
		err = errors.New("the agent does not read what it is sent")
	}
	if err != nil {
		c.cut(err)
	}
}

// read takes the hub's messages until the stream ends.
func (c *Client) read(in *Decoder) {
	for {
		m, err := in.Decode()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			c.cut(err)
			return
		}
		select {
		case c.heard <- struct{}{}:
		default:
		}
		if m.Type == TypeBye {
			c.end(&CutError{Doing: "session", Reason: m.Reason})
			_ = c.hangUp()
			return
		}
		c.take(m)
	}
}

// take hands one message to whom it concerns.
func (c *Client) take(m Message) {
	switch {
	case m.Type == TypeEvent && m.Event != nil:
		ev := *m.Event
		if emit, fresh := c.note(ev); fresh {
			if c.opts.Events != nil {
				c.opts.Events(ev)
			}
			if emit != nil {
				emit(ev)
			}
		}
		return
	case m.Type == TypeDone:
		c.mu.Lock()
		w := c.waiting[m.ID]
		c.mu.Unlock()
		if w != nil {
			select {
			case w.done <- m.Error:
			default: // Done is said once; a second one says nothing new.
			}
		}
	}
	if c.opts.Others != nil && m.Type != TypePong {
		c.opts.Others(m)
	}
}

// note takes an event into the resolution that waits for it, and tells whether it is new.
func (c *Client) note(ev probe.Event) (emit func(probe.Event), fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ev.Seq != 0 && ev.Seq <= c.lastSeq {
		return nil, false
	}
	c.lastSeq = max(c.lastSeq, ev.Seq)
	if w := c.waiting[ev.Resolution]; w != nil {
		w.fold.Add(ev)
		emit = w.emit
	}
	return emit, true
}

// cut ends the session because the stream failed.
func (c *Client) cut(err error) {
	c.end(&CutError{Doing: "session", Err: err})
	_ = c.hangUp() // It failed already.
}

// end marks the session as over; the first reason stays.
func (c *Client) end(why *CutError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.gone:
	default:
		c.err = why
		close(c.gone)
	}
}

// watch makes sure that the other side is alive.
func (c *Client) watch() {
	tick := time.NewTicker(c.opts.Ping)
	defer tick.Stop()
	const patience = 3
	for silent := 0; ; {
		select {
		case <-c.gone:
			return
		case <-c.heard:
			silent = 0
		case <-tick.C:
			if silent++; silent > patience {
				c.cut(fmt.Errorf("nothing was heard from the agent for %s", patience*c.opts.Ping))
				return
			}
			c.send(Message{Type: TypePing, ID: "ping"})
		}
	}
}

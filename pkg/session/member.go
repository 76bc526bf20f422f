package session

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// member is a client as the hub sees it.
type member struct {
	person Person
	conn   net.Conn
	out    *outbox
}

// goodbye lets what is queued go out, then the reason.
func (m *member) goodbye(reason string) { m.leave(reason, m.out.close) }

// drop throws away what is queued and tells the reason if the client still reads.
func (m *member) drop(reason string) { m.leave(reason, m.out.abandon) }

func (m *member) leave(reason string, finish func([]byte)) {
	line, err := encode(Message{Type: TypeBye, Reason: reason})
	if err != nil {
		line = nil
	}
	// A connection that is gone already has no deadline to set, and no need of one.
	_ = m.conn.SetWriteDeadline(time.Now().Add(flushWithin))
	finish(line)
}

// Attach serves one client over conn until either side ends, and closes conn.
func (h *Hub) Attach(conn net.Conn) {
	defer conn.Close()
	in := NewDecoder(conn, MaxRequest)
	_ = conn.SetReadDeadline(time.Now().Add(helloWithin))
	hello, err := readHello(in)
	if err != nil {
		refuse(conn, err)
		return
	}
	m := &member{conn: conn, out: newOutbox(h.cfg.BehindBytes)}
	if err := h.join(m, hello); err != nil {
		refuse(conn, err)
		return
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		_ = m.out.writeTo(conn) // A client that cannot be written to is noticed by its reader, which the next line wakes.
		_ = conn.Close()
	}()
	reason := h.listen(m, in)
	h.mu.Lock()
	m.goodbye(reason)
	h.remove(m)
	h.mu.Unlock()
	<-written
}

// readHello reads the client's hello and checks that both speak the same protocol.
func readHello(in *Decoder) (Hello, error) {
	m, err := in.Decode()
	switch {
	case err != nil:
		return Hello{}, fmt.Errorf("wait for hello: %w", err)
	case m.Type != TypeHello || m.Hello == nil:
		return Hello{}, fmt.Errorf("the first message is %q: a session begins with hello", m.Type)
	case m.Hello.Protocol != Protocol:
		return Hello{}, &ProtocolError{Asked: m.Hello.Protocol, Spoken: Protocol}
	}
	return *m.Hello, nil
}

// refuse tells a client why it cannot join.
func refuse(conn net.Conn, why error) {
	if errors.Is(why, io.EOF) {
		return
	}
	_ = conn.SetWriteDeadline(time.Now().Add(flushWithin))
	_ = Refuse(conn, why) // The connection is given up either way.
}

// join makes m a member: it gets hello, then the history it lacks, then everything that happens from this moment on.
func (h *Hub) join(m *member, hello Hello) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reason != "" {
		return errors.New("the session has ended: " + h.reason)
	}
	if len(h.members) >= mostClients {
		return fmt.Errorf("%d clients are attached already: let one of them leave", len(h.members))
	}
	h.persons++
	m.person = Person{ID: "p" + strconv.Itoa(h.persons), Name: cleanName(hello.Name)}
	var after int64
	if hello.Session == h.session {
		after = hello.After
	}
	var missed []record
	if !hello.NoHistory {
		missed = h.history.after(after)
	}
	line, err := encode(Message{Type: TypeHello, Hello: &Hello{
		Protocol: Protocol, Version: h.cfg.Version, Session: h.session, You: m.person.ID, People: h.people(), History: len(missed),
	}})
	if err != nil {
		return err
	}
	backlog := [][]byte{line}
	for _, r := range missed {
		backlog = append(backlog, r.line)
	}
	m.out.putBacklog(backlog)
	h.members[m] = struct{}{}
	h.watchIdle()
	h.tellAll(Message{Type: TypeJoined, Person: &m.person}, m)
	return nil
}

// people lists who is there, in the order in which they came. h.mu is held.
func (h *Hub) people() []Person {
	var list []Person
	for m := range h.members {
		list = append(list, m.person)
	}
	slices.SortFunc(list, func(a, b Person) int {
		if len(a.ID) != len(b.ID) {
			return len(a.ID) - len(b.ID)
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}

// cleanName makes a name safe to show to the others: it is whatever the client says it is.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	if name == "" {
		return "somebody"
	}
	return name
}

// listen takes a client's requests until it leaves or is silent for too long, and returns why it ended.
func (h *Hub) listen(m *member, in *Decoder) string {
	for {
		_ = m.conn.SetReadDeadline(time.Now().Add(h.cfg.Silence))
		msg, err := in.Decode()
		var malformed *MalformedError
		switch {
		case errors.As(err, &malformed):
			h.reply(m, Message{Type: TypeError, Error: err.Error()})
			continue
		case errors.Is(err, os.ErrDeadlineExceeded):
			return fmt.Sprintf("nothing was heard for %s", h.cfg.Silence)
		case errors.Is(err, ErrTooLong):
			return err.Error()
		case err != nil:
			return "the connection ended"
		case msg.Type == TypeBye:
			return "goodbye"
		}
		h.handle(m, msg)
	}
}

// handle carries out one request. Types that only a hub sends, and unknown ones, are skipped.
func (h *Hub) handle(m *member, msg Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reason != "" {
		return
	}
	switch msg.Type {
	case TypePing:
		h.answer(m, Message{Type: TypePong, ID: msg.ID})
	case TypeCancel:
		h.cancel(msg.ID)
	case TypeShutdown:
		h.end(m.person.Name + " asked the probe to end")
	case TypeRead:
		h.refuseRequest(m, msg.ID, h.startRead(m, msg.ID))
	case TypeResolve:
		err := errors.New("the request has no resolve field: nothing to resolve")
		if msg.Resolve != nil {
			err = h.startResolve(m, msg.ID, *msg.Resolve)
		}
		h.refuseRequest(m, msg.ID, err)
	default:
	}
}

// refuseRequest tells a client that its request was not taken on, if err says so.
func (h *Hub) refuseRequest(m *member, id string, err error) {
	if err != nil {
		h.answer(m, Message{Type: TypeDone, ID: id, Error: err.Error()})
	}
}

// reply sends a message to one client.
func (h *Hub) reply(m *member, msg Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer(m, msg)
}

// answer is reply with h.mu held.
func (h *Hub) answer(m *member, msg Message) {
	line, err := encode(msg)
	if err == nil && !m.out.put(line) {
		m.drop("dropped: too many answers unread, the connection is too slow; attach again")
		h.remove(m)
	}
}

// Command outside is the world outside the test cluster: the upstream DNS server that CoreDNS
// forwards to (world.zone), and something that accepts connections on every documentation address.
// Delay, loss and refusals are changed over a small HTTP endpoint while it runs.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

//go:embed world.zone
var worldZone string

func main() {
	listen := flag.String("dns", "198.18.0.2:53", "address of the DNS server, UDP and TCP")
	control := flag.String("control", "198.18.0.2:8053", "address of the HTTP endpoint that changes the weather")
	web := flag.String("web", ":80 :443", "addresses that accept connections, space-separated")
	flag.Parse()
	err := run(*listen, *control, *web)
	fmt.Fprintf(os.Stderr, "outside: %v\n", err)
	os.Exit(1)
}

// run serves until one of the servers fails; it never returns nil.
func run(listen, control, web string) error {
	w, err := parseWorld(worldZone)
	if err != nil {
		return err
	}
	s := &server{world: w}
	s.weather.Store(&calm)
	failed := make(chan error)
	for _, network := range []string{"udp", "tcp"} {
		go func() {
			failed <- dns.ListenAndServe(listen, network, s)
		}()
	}
	go func() { failed <- serveHTTP(control, http.HandlerFunc(s.control)) }()
	for _, address := range strings.Fields(web) {
		go func() { failed <- serveHTTP(address, http.HandlerFunc(greet)) }()
	}
	return <-failed
}

func serveHTTP(address string, handler http.Handler) error {
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 5 * time.Second}
	return server.ListenAndServe()
}

// greet answers plain HTTP on both ports: the workloads only need a connection that opens.
func greet(w http.ResponseWriter, r *http.Request) {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	fmt.Fprintf(w, "outside: %v\n", local)
}

type server struct {
	world   world
	weather atomic.Pointer[weather]
}

// ServeDNS answers one request as the present weather has it.
func (s *server) ServeDNS(w dns.ResponseWriter, request *dns.Msg) {
	if len(request.Question) != 1 {
		refusal := new(dns.Msg)
		_ = w.WriteMsg(refusal.SetRcode(request, dns.RcodeFormatError))
		return
	}
	now := *s.weather.Load()
	question := request.Question[0]
	udp := w.LocalAddr().Network() == "udp"
	if now.drops(question, udp, rand.Float64()) {
		return
	}
	reply := s.world.answer(request)
	delay := calm.Delay
	if now.touches(question.Name) {
		delay = now.Delay
		if now.Rcode != dns.RcodeSuccess {
			reply = new(dns.Msg)
			reply.SetRcode(request, now.Rcode)
		}
	}
	if edns := request.IsEdns0(); edns != nil {
		reply.SetEdns0(dns.DefaultMsgSize, edns.Do())
	}
	if udp {
		reply.Truncate(datagramSize(request))
	}
	time.Sleep(delay)
	// A reply that cannot be written has nobody waiting for it any more.
	_ = w.WriteMsg(reply)
}

// datagramSize is how much the asker can take over UDP (RFC 1035 section 4.2.1, RFC 6891 section 6.2.3).
func datagramSize(request *dns.Msg) int {
	if edns := request.IsEdns0(); edns != nil && edns.UDPSize() > dns.MinMsgSize {
		return int(edns.UDPSize())
	}
	return dns.MinMsgSize
}

// control shows the weather (GET) or changes it (POST with form values).
func (s *server) control(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		if err := r.ParseForm(); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		next, err := change(*s.weather.Load(), r.PostForm)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.weather.Store(&next)
	}
	fmt.Fprint(w, s.weather.Load().text())
}

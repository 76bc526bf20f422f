package main

import (
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestChange(t *testing.T) {
	stormy := weather{Delay: time.Second, Loss: 0.5, Drop: []uint16{dns.TypeAAAA}}
	cases := []struct {
		name    string
		present weather
		form    string
		want    weather
		fails   bool
	}{
		{name: "delay", present: calm, form: "delay=50ms", want: weather{Delay: 50 * time.Millisecond}},
		{name: "one setting keeps the others", present: stormy, form: "loss=0", want: weather{Delay: time.Second, Drop: []uint16{dns.TypeAAAA}}},
		{name: "types", present: calm, form: "drop=a,AAAA", want: weather{Delay: calm.Delay, Drop: []uint16{dns.TypeA, dns.TypeAAAA}}},
		{name: "no types", present: stormy, form: "drop=", want: weather{Delay: time.Second, Loss: 0.5}},
		{name: "rcode and names", present: calm, form: "rcode=servfail&names=API.stripe.com", want: weather{Delay: calm.Delay, Rcode: dns.RcodeServerFailure, Names: []string{"api.stripe.com."}}},
		{name: "reset", present: stormy, form: "reset=1", want: calm},
		{name: "reset, then set", present: stormy, form: "reset=&loss=1", want: weather{Delay: calm.Delay, Loss: 1}},
		{name: "unknown key", present: stormy, form: "delai=1s", want: stormy, fails: true},
		{name: "delay without a unit", present: stormy, form: "delay=50", want: stormy, fails: true},
		{name: "negative delay", present: stormy, form: "delay=-1s", want: stormy, fails: true},
		{name: "loss in percent", present: stormy, form: "loss=10", want: stormy, fails: true},
		{name: "loss that is no number", present: stormy, form: "loss=NaN", want: stormy, fails: true},
		{name: "unknown type", present: stormy, form: "drop=AAAAA", want: stormy, fails: true},
		{name: "unknown rcode", present: stormy, form: "rcode=OOPS", want: stormy, fails: true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			values, err := url.ParseQuery(c.form)
			if err != nil {
				t.Fatal(err)
			}
			got, err := change(c.present, values)
			if (err != nil) != c.fails || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, error %v; want %+v, failing: %v", got, err, c.want, c.fails)
			}
		})
	}
}

func TestDrops(t *testing.T) {
	question := func(name string, rrtype uint16) dns.Question {
		return dns.Question{Name: name, Qtype: rrtype, Qclass: dns.ClassINET}
	}
	cases := []struct {
		name   string
		w      weather
		q      dns.Question
		udp    bool
		chance float64
		want   bool
	}{
		{"calm", calm, question("api.stripe.com.", dns.TypeA), true, 0, false},
		{"below the loss", weather{Loss: 0.5}, question("api.stripe.com.", dns.TypeA), true, 0.49, true},
		{"at the loss", weather{Loss: 0.5}, question("api.stripe.com.", dns.TypeA), true, 0.5, false},
		{"total loss", weather{Loss: 1}, question("api.stripe.com.", dns.TypeA), true, 0.999, true},
		{"streams lose nothing", weather{Loss: 1}, question("api.stripe.com.", dns.TypeA), false, 0, false},
		{"type", weather{Drop: []uint16{dns.TypeAAAA}}, question("api.stripe.com.", dns.TypeAAAA), true, 0.9, true},
		{"other type", weather{Drop: []uint16{dns.TypeAAAA}}, question("api.stripe.com.", dns.TypeA), true, 0.9, false},
		{"named", weather{Loss: 1, Names: []string{"stripe.com."}}, question("API.Stripe.com.", dns.TypeA), true, 0, true},
		{"other name", weather{Loss: 1, Names: []string{"stripe.com."}}, question("www.example.com.", dns.TypeA), true, 0, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.w.drops(c.q, c.udp, c.chance); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

package main

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// weather is what happens to requests on their way: the part of the outside world that a test or a
// person changes while the cluster runs.
type weather struct {
	Delay time.Duration // before a reply is sent
	Loss  float64       // share of UDP requests never answered, 0 to 1
	Drop  []uint16      // record types never answered over UDP
	Rcode int           // replies carry this code instead of an answer; 0: the answer
	Names []string      // only requests at or below these names are touched; empty: all
}

// calm is the weather after a start and after `reset`: a resolver some milliseconds away.
var calm = weather{Delay: 4 * time.Millisecond}

// maxDelay keeps a mistyped delay from looking like a dead server for good.
const maxDelay = time.Minute

// change applies form values to the present weather: delay (duration), loss (0 to 1), drop (types,
// comma-separated, empty for none), rcode (name, such as SERVFAIL or NOERROR), names
// (comma-separated) and reset (any value, done first). Unknown keys are errors, so that a typing
// mistake does not pass for a setting.
func change(present weather, values url.Values) (weather, error) {
	next := present
	if values.Has("reset") {
		next = calm
	}
	for key := range values {
		var err error
		value := values.Get(key)
		switch key {
		case "reset":
		case "delay":
			next.Delay, err = time.ParseDuration(value)
			if err == nil && (next.Delay < 0 || next.Delay > maxDelay) {
				err = fmt.Errorf("must be from 0s to %v", maxDelay)
			}
		case "loss":
			next.Loss, err = strconv.ParseFloat(value, 64)
			if err == nil && !(next.Loss >= 0 && next.Loss <= 1) {
				err = fmt.Errorf("must be from 0 to 1")
			}
		case "drop":
			next.Drop, err = parseTypes(value)
		case "rcode":
			code, known := dns.StringToRcode[strings.ToUpper(value)]
			next.Rcode = code
			if !known {
				err = fmt.Errorf("no response code of that name")
			}
		case "names":
			next.Names = parseNames(value)
		default:
			err = fmt.Errorf("unknown; there are delay, loss, drop, rcode, names and reset")
		}
		if err != nil {
			return present, fmt.Errorf("setting %s=%q: %w", key, value, err)
		}
	}
	return next, nil
}

func parseTypes(list string) ([]uint16, error) {
	var types []uint16
	for _, name := range strings.FieldsFunc(list, isComma) {
		rrtype, known := dns.StringToType[strings.ToUpper(name)]
		if !known {
			return nil, fmt.Errorf("%s is no record type", name)
		}
		types = append(types, rrtype)
	}
	return types, nil
}

func parseNames(list string) []string {
	var names []string
	for _, name := range strings.FieldsFunc(list, isComma) {
		names = append(names, dns.Fqdn(strings.ToLower(name)))
	}
	return names
}

func isComma(r rune) bool { return r == ',' || r == ' ' }

// touches reports whether requests for the name are subject to the weather at all.
func (w weather) touches(name string) bool {
	if len(w.Names) == 0 {
		return true
	}
	return slices.ContainsFunc(w.Names, func(above string) bool {
		return dns.IsSubDomain(above, strings.ToLower(name))
	})
}

// drops reports whether a request gets no reply; chance is a number drawn from 0 to 1 (1 excluded).
// A stream has no loss: TCP repairs it, and a test that wants a dead server stops the server.
func (w weather) drops(question dns.Question, udp bool, chance float64) bool {
	return udp && w.touches(question.Name) && (chance < w.Loss || slices.Contains(w.Drop, question.Qtype))
}

// text is the weather in the words that change understands.
func (w weather) text() string {
	types := make([]string, len(w.Drop))
	for i, rrtype := range w.Drop {
		types[i] = dns.TypeToString[rrtype]
	}
	return fmt.Sprintf("delay=%v loss=%v drop=%s rcode=%s names=%s\n",
		w.Delay, w.Loss, strings.Join(types, ","), dns.RcodeToString[w.Rcode], strings.Join(w.Names, ","))
}

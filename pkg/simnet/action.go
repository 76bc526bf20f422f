package simnet

import (
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// rcodeWords are the rcodes that actions can name by word.
var rcodeWords = map[string]int{
	"formerr": resolver.RcodeFormErr, "servfail": resolver.RcodeServFail, "notimp": resolver.RcodeNotImp, "refused": resolver.RcodeRefused,
}

// ParseAction reads an action from its word: "a:192.0.2.1", "pad:60", "servfail", "rcode:9", "delay:50" (milliseconds),
// "delay:1.2s", "loss:0.05", and the bare kinds.
func ParseAction(word string) (Action, error) {
	kind, arg, hasArg := strings.Cut(word, ":")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if code, ok := rcodeWords[kind]; ok && !hasArg {
		return Action{Kind: ActRcode, N: code}, nil
	}
	a := Action{Kind: ActionKind(kind)}
	var err error
	switch a.Kind {
	case ActA, ActAAAA:
		a.Addr, err = netip.ParseAddr(arg)
		if err == nil && (a.Addr.Is4() != (a.Kind == ActA) || a.Addr.Zone() != "") {
			err = fmt.Errorf("%s is no address of that family", arg)
		}
	case ActCNAME:
		a.Target = arg
		if arg == "" || len(arg) > 255 {
			err = fmt.Errorf("a target of 1 to 255 bytes is needed")
		}
	case ActPad, ActPad6:
		a.N, err = number(arg, MaxPad)
	case ActRcode:
		a.N, err = number(arg, 15)
	case ActSOA, ActTTL:
		a.N, err = number(arg, math.MaxInt32)
	case ActDelay:
		a.Delay, err = parseDelay(arg)
	case ActLoss:
		a.P, err = strconv.ParseFloat(arg, 64)
		if err == nil && !probability(a.P) {
			err = fmt.Errorf("a probability lies between 0 and 1")
		}
	case ActNoData, ActNXDomain, ActLame, ActHeader, ActBadID, ActBadQuestion, ActTC, ActNoSOA, ActDrop, ActClose, ActReset:
		if hasArg {
			err = fmt.Errorf("%s takes no argument", kind)
		}
	default:
		err = fmt.Errorf("no such action")
	}
	if err != nil {
		return Action{}, fmt.Errorf("read action %.80q: %w", word, err)
	}
	return a, nil
}

// ParseActions reads a list of words.
func ParseActions(words []string) ([]Action, error) {
	if len(words) > MaxActions {
		return nil, fmt.Errorf("%d actions, at most %d are allowed", len(words), MaxActions)
	}
	var actions []Action
	for _, w := range words {
		a, err := ParseAction(w)
		if err != nil {
			return nil, err
		}
		actions = append(actions, a)
	}
	return actions, nil
}

// String returns the word that ParseAction reads.
func (a Action) String() string {
	switch a.Kind {
	case ActA, ActAAAA:
		return string(a.Kind) + ":" + a.Addr.String()
	case ActCNAME:
		return "cname:" + a.Target
	case ActPad, ActPad6, ActSOA, ActTTL:
		return string(a.Kind) + ":" + strconv.Itoa(a.N)
	case ActRcode:
		for word, code := range rcodeWords {
			if code == a.N {
				return word
			}
		}
		return "rcode:" + strconv.Itoa(a.N)
	case ActDelay:
		return "delay:" + a.Delay.String()
	case ActLoss:
		return "loss:" + strconv.FormatFloat(a.P, 'g', -1, 64)
	case ActNoData, ActNXDomain, ActLame, ActHeader, ActBadID, ActBadQuestion, ActTC, ActNoSOA, ActDrop, ActClose, ActReset:
		// The kind says it all.
	}
	return string(a.Kind)
}

func number(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%.20q is no number from 0 to %d", text, most)
	}
	return n, nil
}

// parseDelay reads milliseconds ("50") or a duration ("1.2s").
func parseDelay(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		var ms float64
		ms, err = strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(ms) || math.Abs(ms) > float64(MaxDelay/time.Millisecond) {
			return 0, fmt.Errorf("%.20q is neither milliseconds nor a duration", text)
		}
		d = time.Duration(ms * float64(time.Millisecond))
	}
	return d, checkDelay(d)
}

package fact

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// entries splits a list into its entries, which stand on lines of their own or are separated by semicolons. None and nothing
// are no entries.
func entries(text string) []string {
	var out []string
	for _, e := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		if e = strings.TrimSpace(e); e != "" && e != None {
			out = append(out, e)
		}
	}
	return out
}

// valueOf returns what follows "key=" in a word of words.
func valueOf(words []string, key string) string {
	for _, w := range words {
		if v, ok := strings.CutPrefix(w, key+"="); ok {
			return v
		}
	}
	return ""
}

// maxWord bounds a word of a value, in bytes: the longest name of DNS is no longer.
const maxWord = 253

// word makes text fit to be one word of a value: what separates words and entries, and what no terminal should see, becomes an
// underscore, so that a name from a cluster cannot pass for more than a name.
func word(text string) string { return harmless(text, ";,:") }

// phrase is word for text that may have several words, and colons in them.
func phrase(text string) string {
	parts := strings.Fields(text)
	for i, p := range parts {
		parts[i] = harmless(p, ";,")
	}
	return strings.Join(parts, " ")
}

func harmless(text, separators string) string {
	if len(text) > maxWord {
		text = text[:maxWord]
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(separators, r) || r == unicode.ReplacementChar || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, text)
}

func has(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// Addresses returns the IP addresses among the words of a value.
func Addresses(value string) []netip.Addr {
	var out []netip.Addr
	for _, w := range strings.Fields(strings.NewReplacer(",", " ", ";", " ").Replace(value)) {
		if a, err := parseAddr(w); err == nil {
			out = append(out, a)
		}
	}
	return out
}

// parseAddr reads an address. The zone of an IPv6 address could be any text, and no server of a cluster has one.
func parseAddr(text string) (netip.Addr, error) {
	addr, err := netip.ParseAddr(text)
	return addr.WithZone(""), err
}

// Names returns the words of a fact that lists names (Environment, NamesInUse); known is false when nobody knows. A known empty list
// means that there are none.
func (f Facts) Names(name string) (list []string, known bool) {
	text, known := f.Text(name)
	if !known || text == None {
		return nil, known
	}
	return strings.Fields(text), true
}

// NamesText writes a list of names.
func NamesText(list []string) string {
	if len(list) == 0 {
		return None
	}
	out := make([]string, len(list))
	for i, name := range list {
		out[i] = word(name)
	}
	return strings.Join(out, " ")
}

// Age returns how long ago something was, for the facts that say so (PodStarted, DNSEndpointsChanged); known is false when nobody
// knows.
func (f Facts) Age(name string) (age time.Duration, known bool) {
	text, known := f.Text(name)
	if !known {
		return 0, false
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return 0, false
	}
	return age, true
}

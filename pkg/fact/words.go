package fact

import (
	"net/netip"
	"strconv"
	"strings"
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
		if a, err := netip.ParseAddr(w); err == nil {
			out = append(out, a)
		}
	}
	return out
}

package cares

import (
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// maxPresentation is ARES_MAX_NAME_PRESENTATION_LEN: bytes of all labels and the dots between them. That lets names through that
// take two bytes more in a message than RFC 1035 allows.
const maxPresentation = 255

// split cuts a name into labels; false when c-ares sends no query for it. 1.34 wants the characters of host names, "/" and "*".
//
// Source: c-ares src/lib/record/ares_dns_name.c, ares_split_dns_name.
func (f features) split(name string) ([]string, bool) {
	if f.old {
		return splitOld(name)
	}
	labels := make([]string, 0, strings.Count(name, ".")+1)
	label := make([]byte, 0, resolver.MaxLabelBytes)
	total := 0
	end := func() bool {
		labels = append(labels, string(label))
		total += len(label)
		label = label[:0]
		return len(labels[len(labels)-1]) <= resolver.MaxLabelBytes
	}
	for i := 0; i < len(name); i++ {
		b := name[i]
		switch b {
		case '.':
			if !end() {
				return nil, false
			}
			continue
		case '\\':
			n, c, ok := unescape(name[i+1:])
			if !ok {
				return nil, false
			}
			i, b = i+n, c
		}
		if !isHostByte(b) {
			return nil, false
		}
		label = append(label, b)
	}
	if len(label) > 0 && !end() {
		return nil, false
	}
	if len(labels) == 1 && labels[0] == "" {
		// The root.
		return nil, true
	}
	for _, l := range labels {
		if l == "" {
			return nil, false
		}
	}
	return labels, len(labels) == 0 || total+len(labels)-1 <= maxPresentation
}

// unescape reads what follows a backslash: three digits or one byte.
func unescape(s string) (n int, c byte, ok bool) {
	if s == "" {
		return 0, 0, false
	}
	if s[0] < '0' || s[0] > '9' {
		return 1, s[0], true
	}
	if len(s) < 3 {
		return 0, 0, false
	}
	value := 0
	for i := range 3 {
		if s[i] < '0' || s[i] > '9' {
			return 0, 0, false
		}
		value = value*10 + int(s[i]-'0')
	}
	return 3, byte(value), value <= 255
}

// splitOld follows ares_create_query of 1.18: any byte will do, a backslash stands for the byte behind it.
func splitOld(name string) ([]string, bool) {
	if name == "." || name == "" {
		return nil, true
	}
	name = strings.TrimSuffix(name, ".")
	var labels []string
	var label []byte
	bytes := 1
	for i := 0; i <= len(name); i++ {
		if i == len(name) || name[i] == '.' {
			if len(label) == 0 || len(label) > resolver.MaxLabelBytes {
				return nil, false
			}
			bytes += len(label) + 1
			labels, label = append(labels, string(label)), label[:0]
			continue
		}
		if name[i] == '\\' && i+1 < len(name) {
			i++
		}
		label = append(label, name[i])
	}
	return labels, bytes <= resolver.MaxNameBytes
}

// isHostByte follows ares_is_hostnamech.
func isHostByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-._/*", c) >= 0
}

func isHostText(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 || !isHostByte(byte(r)) })
}

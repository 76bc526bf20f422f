package cli

import (
	"errors"
	"strings"
	"testing"
)

func TestHostsThatApplicationsGive(t *testing.T) {
	for _, host := range []string{
		"api.stripe.com", "api.stripe.com.", "ledger", "ledger.core", "localhost", "a-b.example", "_dns.resolver.arpa", "1.2.3.4", "::1", "fe80::1%eth0",
		"xn--bcher-kva.example", strings.Repeat("a", 63) + ".example", "10", "API.Example.COM",
	} {
		if err := checkHost(host); err != nil {
			t.Errorf("%q: %v", host, err)
		}
	}
}

func TestHostsThatAreNoNames(t *testing.T) {
	tests := []struct{ host, text, next string }{
		{"", "it is empty", "api.example.com"},
		{".", "it is empty", "api.example.com"},
		{"a..b", "nothing between two dots", "api.example.com"},
		{".a", "nothing between two dots", "api.example.com"},
		{"foo bar", `the character ' '`, "api.example.com"},
		{"-o\x1b[31m", `the character '\x1b'`, "api.example.com"},
		{"*.example.com", `the character '*'`, "api.example.com"},
		{"bücher.example", `'ü' is not ASCII`, "xn--"},
		{strings.Repeat("a", 64) + ".example", "has 64 characters, 63 are allowed", "api.example.com"},
		{strings.Repeat("a.", 130) + "b", "it has 261 characters, 253 are allowed", "api.example.com"},
		{"https://api.stripe.com/v1", "not a host name", "did you mean: api.stripe.com"},
		{"api.stripe.com:443", "not a host name", "did you mean: api.stripe.com"},
		{"[2001:db8::1]:443", "not a host name", "did you mean: 2001:db8::1"},
		{"[2001:db8::1]", "not a host name", "did you mean: 2001:db8::1"},
		{"198.51.100.7:53", "not a host name", "did you mean: 198.51.100.7"},
	}
	for _, tt := range tests {
		err := checkHost(tt.host)
		if err == nil {
			t.Errorf("%q passed", tt.host)
			continue
		}
		step, ok := errors.AsType[nextStepper](err)
		if !ok || exitCode(err) != ExitUsage || !strings.Contains(err.Error(), tt.text) || !strings.Contains(step.NextStep(), tt.next) {
			t.Errorf("%q: %v (next: %v), code %d", tt.host, err, step, exitCode(err))
		}
		if strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%q: the message carries an escape", tt.host)
		}
	}
}

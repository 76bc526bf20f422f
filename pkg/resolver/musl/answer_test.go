package musl

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// TestOwnersThrowMuslOff: a byte outside of ASCII ends a name to musl, also in the name of a record that no question has.
func TestOwnersThrowMuslOff(t *testing.T) {
	for _, c := range []struct {
		question, owner string
		want            bool
	}{
		{"x.test.", "x.test.", true},
		{"x.test.", "other.test.", true},
		{"x.test.", `b\195\188cher.test.`, false},
		{`b\195\188cher.test.`, `b\195\188cher.test.`, false},
		// The last byte of a name, taken for a pointer with the end of the name behind it.
		{"x.test.", `b\190.`, true},
	} {
		reply := resolver.Reply{
			Questions: []resolver.Question{{Name: c.question, Type: resolver.TypeA, Class: resolver.ClassIN}},
			Answers:   []resolver.Record{{Name: c.owner, Type: resolver.TypeA, Class: resolver.ClassIN}},
		}
		for _, version := range []string{"1.2.3", "1.2.5"} {
			if got := New(version, resolver.System{}).inStep(&reply); got != c.want {
				t.Errorf("musl %s, question %s, owner %s: finds the record %t, want %t", version, c.question, c.owner, got, c.want)
			}
		}
	}
}

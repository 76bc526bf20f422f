package patch

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// FuzzBuild takes any names and options: whatever is there, the patch sets ndots and nothing else, and the command is one
// line of words that a shell cannot misread.
func FuzzBuild(f *testing.F) {
	f.Add("apps/v1", "Deployment", "shop", "payments", "timeout", "1", 2)
	f.Add("apps/v1", "Deployment", "shop", "payments", "ndots", "5", 2)
	f.Add("batch/v1", "CronJob", "", "bill", "it's", "$(id)\n`id`", 4)
	f.Add("v1", "Pod", "x", "y", "", "", 1)
	f.Add("argoproj.io/v1alpha1", "Rollout\x1b[2J", "a b", "-rf", "null", "~", 15)
	f.Add("apps/v1", "StatefulSet", "shop", "db", "yes", "0x10", 3)
	f.Add("apps/v1", "ReplicaSet", "shop", "rs", "\u2028", "\xff", 3)
	f.Fuzz(func(t *testing.T, apiVersion, kind, namespace, name, option, value string, ndots int) {
		// The API server takes text in UTF-8 only.
		option, value = strings.ToValidUTF8(option, "?"), strings.ToValidUTF8(value, "?")
		existing := []Option{{Name: option, Value: &value}, {Name: "edns0"}}
		p, err := Build(Workload{Owner: probe.Owner{APIVersion: apiVersion, Kind: kind, Name: name}, Namespace: namespace, DNSConfig: &DNSConfig{Options: existing}}, Ndots(ndots), nil)
		if err != nil {
			// YAML has no way to write some characters; no option of a resolv.conf has them.
			if !strings.ContainsFunc(option+value, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Fatal(err)
			}
			return
		}
		want := withOptions(existing, Ndots(ndots).Options)
		if got := optionsOf(t, p.YAML); !cmp.Equal(want, got) {
			t.Errorf("YAML has other options: %s", cmp.Diff(want, got))
		}
		if strings.ContainsAny(p.Effect, "\x1b\n\x07") {
			t.Errorf("effect %q", p.Effect)
		}
		if p.Command == "" {
			return
		}
		words, ok := shellWords(p.Command)
		if !ok || strings.Contains(p.Command, "\n") {
			t.Fatalf("no single line of words: %q", p.Command)
		}
		if got := optionsOf(t, words[len(words)-1]); !cmp.Equal(want, got) {
			t.Errorf("the command has other options: %s", cmp.Diff(want, got))
		}
		verb := 1
		if namespace != "" {
			verb = 3
		}
		if words[0] != "kubectl" || words[verb] != "patch" || words[verb+2] != name {
			t.Errorf("words %q", words)
		}
	})
}

// optionsOf returns the dnsConfig options in a patch, wherever its pod spec is, and checks that there is nothing else.
func optionsOf(t *testing.T, text string) []Option {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for {
		m, ok := doc.(map[string]any)
		if !ok || len(m) != 1 {
			t.Fatalf("more or less than one key on the way to dnsConfig: %v", doc)
		}
		if config, ok := m["dnsConfig"]; ok {
			body, err := json.Marshal(config)
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Options []Option }
			if err := yaml.UnmarshalStrict(body, &got); err != nil {
				t.Fatalf("%v\n%s", err, body)
			}
			return got.Options
		}
		for _, v := range m {
			doc = v
		}
	}
}

// shellWords splits a command as a POSIX shell does, as long as it has nothing but plain words, single quotes and escaped quotes. It
// fails on everything in which a shell would see more.
func shellWords(s string) ([]string, bool) {
	var words []string
	var word strings.Builder
	quoted, open := false, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quoted && c == '\'':
			quoted = false
		case quoted:
			word.WriteByte(c)
		case c == '\'':
			quoted, open = true, true
		case c == '\\' && i+1 < len(s) && s[i+1] == '\'':
			i++
			word.WriteByte('\'')
		case c == ' ':
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		case strings.ContainsRune("$`\"\\;&|<>()*?[]{}~#!\n\t", rune(c)):
			return nil, false
		default:
			open = true
			word.WriteByte(c)
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words, !quoted && len(words) > 0
}

func TestShellWords(t *testing.T) {
	tests := map[string][]string{
		"a b":             {"a", "b"},
		"a 'b c' d":       {"a", "b c", "d"},
		`a 'it'\''s' b`:   {"a", "it's", "b"},
		"a '$(id)' `id`":  nil,
		"a '":             nil,
		"a; b":            nil,
		"a '' b":          {"a", "", "b"},
		"":                nil,
		"kubectl -n x\ny": nil,
	}
	for in, want := range tests {
		got, ok := shellWords(in)
		if ok != (want != nil) || ok && !cmp.Equal(got, want) {
			t.Errorf("%q: %q, %v", in, got, ok)
		}
	}
}

// TestOptionsAreSpelledAsInTheAPI compares our small type with the real one.
func TestOptionsAreSpelledAsInTheAPI(t *testing.T) {
	ours, err := json.Marshal([]Option{{Name: "ndots", Value: value("2")}, {Name: "edns0"}, {Name: "x", Value: value("")}})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := json.Marshal([]corev1.PodDNSConfigOption{{Name: "ndots", Value: value("2")}, {Name: "edns0"}, {Name: "x", Value: value("")}})
	if err != nil {
		t.Fatal(err)
	}
	if string(ours) != string(theirs) {
		t.Errorf("ours %s\ntheirs %s", ours, theirs)
	}
}

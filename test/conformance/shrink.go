package conformance

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Shrink returns a smaller case that still differs. Smaller cases are offered to differs in batches, the boldest first; it
// returns the index of one that still differs, or -1.
func Shrink(c Case, rounds int, differs func([]Case) int) Case {
	for range rounds {
		batch := smaller(c)
		if len(batch) == 0 {
			break
		}
		i := differs(batch)
		if i < 0 {
			break
		}
		c = batch[i]
	}
	return c
}

// smaller returns the cases that are one step simpler.
func smaller(c Case) []Case {
	var out []Case
	add := func(edit func(*Case)) {
		copied := c.clone()
		edit(&copied)
		out = append(out, copied)
	}
	if len(c.Calls) > 1 {
		for i := range c.Calls {
			add(func(s *Case) { s.Calls = slices.Delete(s.Calls, i, i+1) })
		}
	}
	for i := range c.Rules {
		add(func(s *Case) { s.Rules = slices.Delete(s.Rules, i, i+1) })
	}
	for _, text := range lessText(c.ResolvConf) {
		add(func(s *Case) { s.ResolvConf = text })
	}
	out = append(out, smallerFiles(c)...)
	for i := range c.Addresses {
		add(func(s *Case) { s.Addresses = slices.Delete(s.Addresses, i, i+1) })
	}
	for i := range c.Servers {
		add(func(s *Case) { s.Servers = slices.Delete(s.Servers, i, i+1) })
		if plain := (Server{Addr: c.Servers[i].Addr}); plain != c.Servers[i] {
			add(func(s *Case) { s.Servers[i] = plain })
		}
	}
	out = append(out, smallerRules(c)...)
	out = append(out, smallerCalls(c)...)
	return out
}

func smallerFiles(c Case) []Case {
	var out []Case
	add := func(edit func(*Case)) {
		copied := c.clone()
		edit(&copied)
		out = append(out, copied)
	}
	for name := range c.Env {
		add(func(s *Case) { delete(s.Env, name) })
		for _, text := range lessText(c.Env[name]) {
			add(func(s *Case) { s.Env[name] = text })
		}
	}
	for _, text := range lessText(c.Hosts) {
		add(func(s *Case) { s.Hosts = text })
	}
	for _, text := range lessText(c.HostAliases) {
		add(func(s *Case) { s.HostAliases = text })
	}
	usual := "hosts: files dns\n"
	if c.NSSwitch == nil || *c.NSSwitch != usual {
		add(func(s *Case) { s.NSSwitch = &usual })
	}
	if c.Hostname != "pod" {
		add(func(s *Case) { s.Hostname = "pod" })
	}
	if c.PauseMillis != 0 {
		add(func(s *Case) { s.PauseMillis = 0 })
	}
	if c.Truncate {
		add(func(s *Case) { s.Truncate = false })
	}
	if len(c.Zones) > 0 {
		add(func(s *Case) { s.Zones = nil })
	}
	if c.NoIPv6 {
		add(func(s *Case) { s.NoIPv6 = false })
	}
	return out
}

func smallerRules(c Case) []Case {
	var out []Case
	add := func(i int, edit func(*Rule)) {
		copied := c.clone()
		edit(&copied.Rules[i])
		out = append(out, copied)
	}
	for i, r := range c.Rules {
		for j := range r.Do {
			if len(r.Do) > 1 {
				add(i, func(r *Rule) { r.Do = slices.Delete(r.Do, j, j+1) })
			}
		}
		if r.Nth != nil {
			add(i, func(r *Rule) { r.Nth = nil })
		}
		if r.Type != "" {
			add(i, func(r *Rule) { r.Type = "" })
		}
		if r.Server != nil {
			add(i, func(r *Rule) { r.Server = nil })
		}
		if r.Transport != "" {
			add(i, func(r *Rule) { r.Transport = "" })
		}
	}
	return out
}

func smallerCalls(c Case) []Case {
	var out []Case
	add := func(i int, edit func(*Call)) {
		copied := c.clone()
		edit(&copied.Calls[i])
		out = append(out, copied)
	}
	for i, call := range c.Calls {
		if plain := (Call{Host: call.Host, Family: call.Family}); plain != call {
			add(i, func(call *Call) { *call = plain })
		}
		if call.Family != resolver.Unspec {
			add(i, func(call *Call) { call.Family = resolver.Unspec })
		}
		if call.AddrConfig {
			add(i, func(call *Call) { call.AddrConfig = false })
		}
		if call.CanonName {
			add(i, func(call *Call) { call.CanonName = false })
		}
		if call.V4Mapped {
			add(i, func(call *Call) { call.V4Mapped = false })
		}
	}
	return out
}

// lessText returns text without one of its lines, and without one word of a line.
func lessText(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	var out []string
	for i, line := range lines {
		if line == "" {
			continue
		}
		before, after := strings.Join(lines[:i], ""), strings.Join(lines[i+1:], "")
		out = append(out, before+after)
	}
	for i, line := range lines {
		words := strings.SplitAfter(line, " ")
		before, after := strings.Join(lines[:i], ""), strings.Join(lines[i+1:], "")
		for j := range words {
			if j == 0 || len(words) < 3 && strings.TrimSpace(words[j]) == "" {
				continue
			}
			rest := strings.Join(words[:j], "") + strings.Join(words[j+1:], "")
			if strings.HasSuffix(line, "\n") && !strings.HasSuffix(rest, "\n") {
				rest += "\n"
			}
			if rest != line {
				out = append(out, before+rest+after)
			}
		}
	}
	return out
}

// clone returns a copy that shares nothing that smaller changes.
func (c Case) clone() Case {
	c.Env = maps.Clone(c.Env)
	c.Addresses, c.Servers, c.Calls = slices.Clone(c.Addresses), slices.Clone(c.Servers), slices.Clone(c.Calls)
	c.Rules = slices.Clone(c.Rules)
	for i := range c.Rules {
		c.Rules[i].Do = slices.Clone(c.Rules[i].Do)
	}
	return c
}

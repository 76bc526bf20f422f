package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

// JSON writes a run as an indented JSON document of schema dnsprobe.v1. Lists are never null; the patch is null when there
// is none. Characters that a terminal would obey or hide are written as \uNNNN, which JSON readers take for the same text.
func JSON(w io.Writer, run probe.Run) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(complete(run)); err != nil {
		return fmt.Errorf("write the run as JSON: %w", err)
	}
	_, err := io.WriteString(w, escapeUnsafe(b.String()))
	return err
}

// YAML writes a run as YAML with the fields of JSON. Characters that a terminal would obey or hide are spelled out (\x1b), as in
// the text report: who needs them byte for byte reads the JSON.
func YAML(w io.Writer, run probe.Run) error {
	doc, err := json.Marshal(complete(run))
	if err != nil {
		return fmt.Errorf("write the run as YAML: %w", err)
	}
	var tree any
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		return fmt.Errorf("write the run as YAML: %w", err)
	}
	if doc, err = json.Marshal(spelled(tree)); err != nil {
		return fmt.Errorf("write the run as YAML: %w", err)
	}
	out, err := yaml.JSONToYAML(doc)
	if err != nil {
		return fmt.Errorf("write the run as YAML: %w", err)
	}
	_, err = w.Write(out)
	return err
}

// spelled returns a JSON tree with every string printable. Newlines stay: a resolv.conf is read line by line.
func spelled(v any) any {
	switch v := v.(type) {
	case string:
		var b strings.Builder
		for i, l := range strings.Split(v, "\n") {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(printable.Text(l, len(l)))
		}
		return b.String()
	case []any:
		for i := range v {
			v[i] = spelled(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[printable.Text(k, len(k))] = spelled(e)
		}
		return out
	}
	return v
}

// escapeUnsafe escapes in a JSON text what a terminal should not be sent. Such characters only occur inside of strings, where
// \u escapes are the same text (RFC 8259 section 7).
func escapeUnsafe(doc string) string {
	var b strings.Builder
	b.Grow(len(doc))
	for i := 0; i < len(doc); {
		r, size := utf8.DecodeRuneInString(doc[i:])
		switch {
		case r == '\n' || r < 0x7f && r >= 0x20 || printable.Safe(r):
			b.WriteString(doc[i : i+size])
		case r >= 0x10000:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

// complete returns run with empty lists where it has none. Nothing that run points at is changed.
func complete(run probe.Run) probe.Run {
	if run.Schema == "" {
		run.Schema = probe.Schema
	}
	s := &run.Settings
	s.Nameservers, s.Search, s.Options = list(s.Nameservers), list(s.Search), list(s.Options)
	s.Warnings = list[resolvconf.Warning](s.Warnings)
	run.Resolutions = each(run.Resolutions, func(r *probe.Resolution) {
		r.Addresses = list(r.Addresses)
		r.Attempts = each(r.Attempts, func(a *probe.Attempt) {
			a.Queries = each(a.Queries, func(q *probe.Query) {
				q.Answers, q.Transmissions = list(q.Answers), list(q.Transmissions)
			})
		})
	})
	run.WhatIf = list(run.WhatIf)
	run.Findings = each(run.Findings, func(d *probe.Finding) {
		d.Evidence, d.Remedies = list(d.Evidence), list(d.Remedies)
	})
	if len(run.Comparisons) > 0 {
		run.Comparisons = each(run.Comparisons, func(c *probe.Comparison) {
			c.Libcs = each(c.Libcs, func(l *probe.LibcResult) { l.Addresses = list(l.Addresses) })
		})
	}
	if run.Facts == nil {
		run.Facts = map[string]probe.Fact{}
	}
	if run.Patch != nil {
		p := *run.Patch
		p.Names = each(p.Names, func(n *probe.PatchName) {
			n.Before.Addresses, n.After.Addresses = list(n.Before.Addresses), list(n.After.Addresses)
		})
		run.Patch = &p
	}
	return run
}

func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// each returns a copy of l on whose elements do has worked.
func each[T any](l []T, do func(*T)) []T {
	out := make([]T, len(l))
	copy(out, l)
	for i := range out {
		do(&out[i])
	}
	return out
}

package fact

import "strings"

// ServerBlock is a block of a Corefile: zones and the plugins for them (coredns.io/manual/configuration).
type ServerBlock struct {
	// Zones as written, with scheme and port if there are any: ".:53", "corp.example".
	Zones   []string
	Plugins []Plugin
}

// Plugin is a line of a server block, with the lines of its own block.
type Plugin struct {
	Name  string
	Args  []string
	Block [][]string
}

// Named returns the plugins of a name, in order.
func (b ServerBlock) Named(name string) []Plugin {
	var out []Plugin
	for _, p := range b.Plugins {
		if p.Name == name {
			out = append(out, p)
		}
	}
	return out
}

// Option returns the words after the first one that begins a line of the plugin's block, and whether there is such a line.
func (p Plugin) Option(name string) ([]string, bool) {
	for _, line := range p.Block {
		if line[0] == name {
			return line[1:], true
		}
	}
	return nil, false
}

// ParseCorefile reads a Corefile as far as it can be read; it never fails. The plugins of a snippet stand where the snippet is
// imported. An import of files stays as it is: what is in them is not known.
func ParseCorefile(text string) []ServerBlock {
	var r corefileReader
	for line := range strings.Lines(text) {
		if i := strings.IndexByte(line, '#'); i >= 0 {
			line = line[:i]
		}
		if words := strings.Fields(line); len(words) > 0 {
			r.read(words)
		}
	}
	return withoutSnippets(r.blocks)
}

// corefileReader is what was read so far.
type corefileReader struct {
	blocks []ServerBlock
	// depth is the number of braces that are open.
	depth int
	// more is set after a line of zones that ends in a comma.
	more bool
}

func (r *corefileReader) read(words []string) {
	opens := words[len(words)-1] == "{"
	if opens {
		words = words[:len(words)-1]
	}
	switch {
	case len(words) > 0 && words[0] == "}":
		r.depth = max(0, r.depth-1)
		return
	case r.depth == 0:
		r.zones(words)
	case len(words) == 0:
		// A brace alone belongs to the line before.
	case r.depth == 1:
		last := &r.blocks[len(r.blocks)-1]
		last.Plugins = append(last.Plugins, Plugin{Name: words[0], Args: words[1:]})
	case r.depth == 2:
		last := &r.blocks[len(r.blocks)-1]
		if n := len(last.Plugins); n > 0 {
			last.Plugins[n-1].Block = append(last.Plugins[n-1].Block, words)
		}
	}
	if opens {
		r.depth++
	}
}

// zones begins a server block, or goes on with its zones.
func (r *corefileReader) zones(words []string) {
	goesOn := len(r.blocks) > 0 && (r.more || len(words) == 0)
	if !goesOn {
		r.blocks = append(r.blocks, ServerBlock{})
	}
	last := &r.blocks[len(r.blocks)-1]
	for _, w := range words {
		for zone := range strings.SplitSeq(w, ",") {
			if zone != "" {
				last.Zones = append(last.Zones, zone)
			}
		}
	}
	r.more = len(words) > 0 && strings.HasSuffix(words[len(words)-1], ",")
}

// maxPlugins bounds the plugins of a block: a snippet that is imported again and again would grow a text of some KiB into a thousand times
// that.
const maxPlugins = 1000

// withoutSnippets puts the plugins of snippets, blocks whose only zone is a name in parentheses, where they are imported.
func withoutSnippets(all []ServerBlock) []ServerBlock {
	snippets := map[string][]Plugin{}
	var blocks []ServerBlock
	for _, b := range all {
		if len(b.Zones) == 1 && strings.HasPrefix(b.Zones[0], "(") && strings.HasSuffix(b.Zones[0], ")") {
			snippets[strings.Trim(b.Zones[0], "()")] = b.Plugins
			continue
		}
		blocks = append(blocks, b)
	}
	for i := range blocks {
		var plugins []Plugin
		for _, p := range blocks[i].Plugins {
			if len(plugins) > maxPlugins {
				break
			}
			snippet, found := []Plugin(nil), false
			if p.Name == "import" && len(p.Args) > 0 {
				snippet, found = snippets[p.Args[0]]
			}
			if found {
				plugins = append(plugins, snippet...)
				continue
			}
			plugins = append(plugins, p)
		}
		blocks[i].Plugins = plugins
	}
	return blocks
}

// ZoneOfCluster returns the zone that the plugin kubernetes serves, without its final dot; empty when there is none. Zones for
// reverse lookups are none.
func ZoneOfCluster(blocks []ServerBlock) string {
	for _, b := range blocks {
		for _, p := range b.Named("kubernetes") {
			zones := p.Args
			if len(zones) == 0 {
				zones = b.Zones
			}
			for _, z := range zones {
				z = strings.TrimSuffix(z, ".")
				if z != "" && !strings.HasSuffix(z, ".arpa") && !strings.ContainsAny(z, ":/{") {
					return z
				}
			}
		}
	}
	return ""
}

// Corefile returns the server blocks of the fact of that name (Corefile or NodeLocalCorefile); known is false when nobody knows.
func (f Facts) Corefile(name string) (blocks []ServerBlock, known bool) {
	text, known := f.Text(name)
	if !known || text == None {
		return nil, false
	}
	blocks = ParseCorefile(text)
	return blocks, len(blocks) > 0
}

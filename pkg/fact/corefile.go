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

// ParseCorefile reads a Corefile as far as it can be read. Snippets and imports stay as they are.
func ParseCorefile(text string) []ServerBlock {
	var (
		blocks []ServerBlock
		depth  int
	)
	for line := range strings.Lines(text) {
		if i := strings.IndexByte(line, '#'); i >= 0 {
			line = line[:i]
		}
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		opens := words[len(words)-1] == "{"
		if opens {
			words = words[:len(words)-1]
		}
		switch {
		case words == nil || len(words) == 0:
			// A brace alone belongs to the line before, which had none: unusual, and not read as more.
		case words[0] == "}":
			depth = max(0, depth-1)
			continue
		case depth == 0:
			blocks = append(blocks, ServerBlock{Zones: words})
		case depth == 1:
			last := &blocks[len(blocks)-1]
			last.Plugins = append(last.Plugins, Plugin{Name: words[0], Args: words[1:]})
		case depth == 2 && len(blocks[len(blocks)-1].Plugins) > 0:
			last := &blocks[len(blocks)-1]
			plugin := &last.Plugins[len(last.Plugins)-1]
			plugin.Block = append(plugin.Block, words)
		}
		if opens {
			depth++
		}
	}
	return blocks
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

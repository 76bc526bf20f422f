package patch

import (
	"strings"

	"sigs.k8s.io/yaml"
)

// diff shows the change as lines with "+ ", "- " or two blanks before them. The way down to the pod spec is context.
func diff(path []string, existing *DNSConfig, after []Option) (string, error) {
	var lines []string
	for depth, key := range path {
		lines = append(lines, "  "+strings.Repeat("  ", depth)+key+":")
	}
	var before []string
	var err error
	if existing != nil {
		// An object that has the key but no options is no empty list: the line "options:" is then new.
		var body any = map[string]any{"dnsConfig": map[string]any{"options": existing.Options}}
		if len(existing.Options) == 0 {
			body = nil
			before = []string{"dnsConfig:"}
		}
		if body != nil {
			if before, err = yamlLines(body); err != nil {
				return "", err
			}
		}
	}
	now, err := yamlLines(below(after))
	if err != nil {
		return "", err
	}
	indent := strings.Repeat("  ", len(path))
	for _, l := range compare(before, now) {
		lines = append(lines, l.sign+" "+indent+l.text)
	}
	return strings.Join(lines, "\n") + "\n", nil
}

func yamlLines(value any) ([]string, error) {
	text, err := yaml.Marshal(value)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), nil
}

type diffLine struct{ sign, text string }

// compare is the shortest edit from before to after, by the longest common subsequence. Option lists are short.
func compare(before, after []string) []diffLine {
	// common[i][j] is the length for before[i:] and after[j:].
	common := make([][]int, len(before)+1)
	for i := range common {
		common[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			if before[i] == after[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []diffLine
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			out = append(out, diffLine{" ", after[j]})
			i, j = i+1, j+1
		case i < len(before) && (j == len(after) || common[i+1][j] >= common[i][j+1]):
			out = append(out, diffLine{"-", before[i]})
			i++
		default:
			out = append(out, diffLine{"+", after[j]})
			j++
		}
	}
	return out
}

package patch

import (
	"bytes"
	"strings"

	"sigs.k8s.io/yaml"
)

// diff shows the change as lines with "+ ", "- " or two blanks before them. The way down to the pod spec is context.
func diff(path []string, was, will map[string]any) (string, error) {
	var lines []string
	for depth, key := range path {
		lines = append(lines, "  "+strings.Repeat("  ", depth)+key+":")
	}
	before, err := yamlLines(was)
	if err != nil {
		return "", err
	}
	now, err := yamlLines(will)
	if err != nil {
		return "", err
	}
	indent := strings.Repeat("  ", len(path))
	for _, l := range Edits(before, now) {
		lines = append(lines, l.Sign+" "+indent+l.Text)
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// yamlLines writes the part of a pod spec that a patch speaks about. An object that has the key but none of its lists is no empty
// object: what the patch puts below it is then new.
func yamlLines(spec map[string]any) ([]string, error) {
	if len(spec) == 0 {
		return nil, nil
	}
	text, err := yaml.Marshal(spec)
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte("dnsConfig: {}\n"), []byte("dnsConfig:\n"))
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), nil
}

// DiffLine is a line that stays (" "), goes ("-") or comes ("+").
type DiffLine struct{ Sign, Text string }

// Edits is the shortest way from before to after, by the longest common subsequence. It takes the product of both lengths in
// memory: it is meant for short lists.
func Edits(before, after []string) []DiffLine {
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
	var out []DiffLine
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			out = append(out, DiffLine{" ", after[j]})
			i, j = i+1, j+1
		case i < len(before) && (j == len(after) || common[i+1][j] >= common[i][j+1]):
			out = append(out, DiffLine{"-", before[i]})
			i++
		default:
			out = append(out, DiffLine{"+", after[j]})
			j++
		}
	}
	return out
}

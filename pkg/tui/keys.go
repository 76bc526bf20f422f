package tui

import (
	"github.com/charmbracelet/bubbles/key"
)

// action is what a key does.
type action int

// The actions, in the order in which help lists them.
const (
	actDetails action = iota
	actBack
	actUp
	actDown
	actPageUp
	actPageDown
	actHome
	actEnd
	actSection
	actSectionBack
	actPrevious
	actNext
	actPatch
	actCopyCommand
	actCopyYAML
	actHelp
	actQuit
	actSuspend
	numActions
)

// keys is the one key map: keys are looked up in it, and help is made from it.
var keys = [numActions]key.Binding{
	actDetails:     bind("enter", "details of what the cursor is on", "enter"),
	actBack:        bind("esc", "back", "esc", "backspace"),
	actUp:          bind("up/k", "up", "up", "k"),
	actDown:        bind("down/j", "down", "down", "j"),
	actPageUp:      bind("pgup", "page up", "pgup", "ctrl+b"),
	actPageDown:    bind("pgdn/space", "page down", "pgdown", " ", "ctrl+f"),
	actHome:        bind("home/g", "to the top", "home", "g"),
	actEnd:         bind("end/G", "to the end", "end", "G"),
	actSection:     bind("tab", "next part: attempts, findings, what if", "tab"),
	actSectionBack: bind("shift+tab", "previous part", "shift+tab"),
	actPrevious:    bind("left/h", "previous host, in the details previous attempt", "left", "h"),
	actNext:        bind("right/l", "next host, in the details next attempt", "right", "l"),
	actPatch:       bind("p", "the patch, and how it was checked", "p"),
	actCopyCommand: bind("c", "copy the command", "c"),
	actCopyYAML:    bind("y", "copy the YAML", "y"),
	actHelp:        bind("?", "help", "?"),
	actQuit:        bind("q", "quit, and leave the report in the terminal", "q", "ctrl+c"),
	actSuspend:     bind("ctrl+z", "to the background", "ctrl+z"),
}

func bind(shown, what string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, what))
}

// short are the words for the line of keys at the bottom, where room is dear.
var short = map[action]string{
	actDetails: "details", actBack: "back", actSection: "next part", actNext: "next host", actPatch: "patch",
	actCopyCommand: "copy command", actCopyYAML: "copy YAML", actHelp: "help", actQuit: "quit",
}

// unusable says why a key does nothing now, or "" when it does something.
func (m Model) unusable(a action) string {
	switch a {
	case actDetails:
		return m.noDetails()
	case actBack:
		if m.page == pageRun {
			return "this is the first screen"
		}
	case actSection, actSectionBack:
		switch {
		case m.page != pageRun:
			return "only on the first screen"
		case m.section(m.cursor, 1).part == m.cursor.part:
			return "there is no other part"
		}
	case actPrevious, actNext:
		switch {
		case m.page == pageDetails && m.cursor.part == partAttempts:
			if len(m.resolution().Attempts) < 2 {
				return "there is one attempt only"
			}
		case m.page != pageRun:
			return "only on the first screen and in the details of an attempt"
		case len(m.shown) < 2:
			return "there is one host only"
		}
	case actPatch, actCopyYAML:
		if m.run.Patch == nil {
			return m.noPatch()
		}
		if a == actPatch && m.page == pagePatch {
			return "this is the patch"
		}
	case actCopyCommand:
		switch {
		case m.run.Patch == nil:
			return m.noPatch()
		case m.run.Patch.Command == "":
			return "the object cannot be changed in place; copy the YAML instead"
		}
	case actHelp:
		if m.page == pageHelp {
			return "this is the help"
		}
	}
	return ""
}

func (m Model) noPatch() string {
	if !m.ended {
		return "the run is not finished"
	}
	return "no change of dnsConfig was found to help"
}

func (m Model) noDetails() string {
	switch {
	case m.page != pageRun:
		return "these are the details"
	case m.cursor.part == partProblems:
		return "this line says all that is known"
	case m.count(m.cursor.part) == 0:
		return "nothing is selected"
	case m.cursor.part == partWhatIf && m.whatIfIndex(m.cursor.index) < 0:
		return "this line says all that is known"
	}
	return ""
}

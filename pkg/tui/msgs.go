package tui

import (
	"context"
	"io"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

const (
	// gather is how long events are collected before the screen is told: thirty screens a second are smooth.
	gather = 33 * time.Millisecond
	// most bounds the events of one message, so that keys are answered in between.
	most = 4096
	// beat is how often bars grow while nothing happens.
	beat = 100 * time.Millisecond
)

// eventsMsg brings events that happened, and the end of the stream.
type eventsMsg struct {
	events []probe.Event
	// at is when the last of them was read.
	at    time.Time
	ended bool
	err   error
}

// beatMsg tells the time to a screen that shows a running clock.
type beatMsg time.Time

// copiedMsg reports that something was sent to the terminal's clipboard.
type copiedMsg struct {
	what string
	err  error
}

// listen waits for an event, gathers those that follow, and returns them as one message.
func listen(ctx context.Context, events <-chan probe.Event, failed func() error) tea.Cmd {
	return func() tea.Msg {
		var msg eventsMsg
		var full <-chan time.Time
		for len(msg.events) < most {
			select {
			case ev, open := <-events:
				if !open {
					msg.ended, msg.at = true, time.Now()
					if failed != nil {
						msg.err = failed()
					}
					return msg
				}
				if full == nil {
					timer := time.NewTimer(gather)
					defer timer.Stop()
					full = timer.C
				}
				msg.events = append(msg.events, ev)
			case <-full:
				msg.at = time.Now()
				return msg
			case <-ctx.Done():
				msg.ended, msg.at, msg.err = true, time.Now(), ctx.Err()
				return msg
			}
		}
		msg.at = time.Now()
		return msg
	}
}

func tick() tea.Cmd { return tea.Tick(beat, func(t time.Time) tea.Msg { return beatMsg(t) }) }

// toClipboard asks the terminal to take text into the clipboard (OSC 52). tmux takes the sequence for itself where its
// set-clipboard is on; where only allow-passthrough is, it hands on what is wrapped. Both are sent, since no terminal says
// what it did, and which of them it ignores does no harm.
func toClipboard(out io.Writer, what, text string, tmux bool) tea.Cmd {
	return func() tea.Msg {
		seq := ansi.SetSystemClipboard(text)
		if tmux {
			seq += ansi.TmuxPassthrough(seq)
		}
		_, err := io.WriteString(out, seq)
		return copiedMsg{what, err}
	}
}

// Package terminal runs the real binary in tmux and reads the screen as a person would. It holds only tests.
package terminal

package tui

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view/viewtest"
)

// texts reads a picture as XML and returns what stands in it.
func texts(t *testing.T, picture string) string {
	t.Helper()
	var b strings.Builder
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			b.Write(text)
		}
	}
}

func TestSVGShowsTheScreen(t *testing.T) {
	for name, s := range viewtest.Runs() {
		var b bytes.Buffer
		if err := SVG(t.Context(), &b, s.Events, 100, 30); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(texts(t, b.String())), "")
		for l := range strings.SplitSeq(ansi.Strip(model(t, s.Events, true, 100, 30).View()), "\n") {
			if want := strings.Join(strings.Fields(l), ""); !strings.Contains(got, want) {
				t.Errorf("%s: the line %q is not in the picture", name, l)
			}
		}
		if strings.ContainsRune(b.String(), '\x1b') {
			t.Errorf("%s: an escape is left", name)
		}
	}
}

// TestPictureInTheDocs keeps the picture that the README shows true.
func TestPictureInTheDocs(t *testing.T) {
	var b bytes.Buffer
	if err := SVG(t.Context(), &b, viewtest.Classic().Events, 100, 30); err != nil {
		t.Fatal(err)
	}
	viewtest.Golden(t, *update, "../../docs/screen.svg", b.String())
}

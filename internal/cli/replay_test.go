package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// saveDemo saves the built-in run and returns the file.
func saveDemo(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.ndjson")
	if code, _, errOut := main(t, "demo -o text --save "+file); code != ExitOK {
		t.Fatalf("code %d: %s", code, errOut)
	}
	return file
}

func TestReplayGivesTheSameReports(t *testing.T) {
	file := saveDemo(t)
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	code, stream, errOut := main(t, "replay "+file+" -o ndjson")
	if code != ExitOK || stream != string(saved) {
		t.Errorf("code %d, stderr %q, the stream differs", code, errOut)
	}
	for _, format := range []string{"text", "json", "yaml", "markdown", "svg"} {
		// A demo draws a new label and start time every time, so it is the first replay that the second is held against.
		again := filepath.Join(t.TempDir(), "again.ndjson")
		_, first, _ := main(t, "replay "+file+" --save "+again+" -o "+format)
		code, second, errOut := main(t, "replay "+again+" -o "+format)
		if code != ExitOK || second != first || !strings.Contains(second, "api.stripe.com") {
			t.Errorf("%s: code %d, stderr %q:\n%s\nwant\n%s", format, code, errOut, second, first)
		}
	}
	_, direct, _ := main(t, "demo -o text")
	if _, replayed, _ := main(t, "replay "+file+" -o text"); replayed != direct {
		t.Errorf("replayed\n%s\ndirect\n%s", replayed, direct)
	}
}

func TestReplayOfALaterVersionKeepsAndNamesWhatItDoesNotKnow(t *testing.T) {
	file := saveDemo(t)
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(saved), "\n")
	lines[0] = strings.Replace(lines[0], `{"event":"run"`, `{"mood":"good","event":"run"`, 1)
	text := lines[0] + `{"event":"weather","rain":true}` + "\n" + strings.Join(lines[1:], "")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errOut := main(t, "replay "+file+" -o text")
	if code != ExitOK || !strings.Contains(out, `event "weather"`) || !strings.Contains(out, `field "mood"`) {
		t.Errorf("code %d, stderr %q:\n%s", code, errOut, out)
	}
	_, out, _ = main(t, "replay "+file+" -o ndjson")
	if !strings.HasPrefix(out, text) || strings.Count(out, "\n") != strings.Count(text, "\n")+1 {
		t.Error("the stream lost something")
	}
}

func TestReplayOfWhatIsNoSavedRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	_, document, _ := main(t, "demo -o json")
	for file, want := range map[string]string{
		filepath.Join(dir, "missing"):             "open the saved run",
		write("empty", ""):                        "has no events in it",
		write("json", document):                   "is the document of -o json",
		write("text", "hello\n"):                  "is not a saved run",
		write("array", "[1,2]\n"):                 "is not a saved run",
		write("binary", "\x00\x01\x02"):           "is not a saved run",
		write("two", `{"event":"x"}{}`):           "is not a saved run",
		write("kindless", `{"atMs":1}`):           "is not a saved run",
		dir:                                       "is a directory",
		write("long", strings.Repeat("x", 2<<20)): "is not a saved run",
	} {
		code, out, errOut := main(t, "replay "+file+" -o text")
		if (code != ExitUsage && code != ExitFailed) || out != "" || !strings.Contains(errOut, want) || !strings.HasPrefix(errOut, "error: ") {
			t.Errorf("%s: code %d, stdout %.100q, stderr %.300q, want %q", file, code, out, errOut, want)
		}
	}
	saved, err := os.ReadFile(saveDemo(t))
	if err != nil {
		t.Fatal(err)
	}
	half := write("half", string(saved[:len(saved)*9/10]))
	code, out, errOut := main(t, "replay "+half+" -o text")
	if code != ExitOK || !strings.Contains(out, "the saved run ends early") || !strings.Contains(out, "api.stripe.com") {
		t.Errorf("half: code %d, stderr %q:\n%s", code, errOut, out)
	}
}

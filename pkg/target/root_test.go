package target

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func openRoot(t *testing.T, dir string) *Root {
	t.Helper()
	root, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(root.Close)
	return root
}

func TestLinksStayInsideTheRoot(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, map[string]string{
		"outside/etc/secret": "of the probe",
		"secret":             "of the probe",
	})
	tree(t, filepath.Join(dir, "outside", "root"), map[string]string{
		"run/resolv.conf":   "right",
		"etc/secret":        "right",
		"etc/absolute":      "-> /run/resolv.conf",
		"etc/relative":      "-> ../run/resolv.conf",
		"etc/twice":         "-> absolute",
		"etc/up":            "-> ../../../../../../run/resolv.conf",
		"etc/out":           "-> ../../etc/secret",
		"etc/folder":        "-> /run",
		"etc/dots":          "-> /run/./../run//resolv.conf",
		"etc/itself":        "-> itself",
		"etc/ping":          "-> pong",
		"etc/pong":          "-> ping",
		"etc/nowhere":       "-> /run/nothing",
		"etc/absolute-out":  "-> " + filepath.Join(dir, "secret"),
		"etc/root":          "-> /",
		"etc/far":           "-> " + strings.Repeat("./", mostSteps) + "secret",
		"etc/through-files": "-> secret/x",
	})
	root := openRoot(t, filepath.Join(dir, "outside", "root"))
	for name, want := range map[string]string{
		"etc/absolute": "right", "etc/relative": "right", "etc/twice": "right", "etc/up": "right", "etc/dots": "right",
		"etc/folder/resolv.conf": "right", "/etc/absolute": "right", "../../etc/secret": "right", "etc/root/etc/secret": "right",
		// "out" leads to /etc/secret of the root, as it would for a process there.
		"etc/out": "right",
	} {
		if got, err := root.Read(name, 100); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]error{
		"etc/itself": syscall.ELOOP, "etc/ping": syscall.ELOOP, "etc/nowhere": fs.ErrNotExist, "etc/absolute-out": fs.ErrNotExist,
		"etc/nothing": fs.ErrNotExist, "nothing/at/all": fs.ErrNotExist, "etc/through-files": syscall.ENOTDIR, "etc/far": syscall.ENAMETOOLONG, "etc/root": syscall.EISDIR,
	} {
		if got, err := root.Read(name, 100); !errors.Is(err, want) {
			t.Errorf("%s: %q, %v; want %v", name, got, err, want)
		}
	}
}

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	tree(t, dir, map[string]string{"folder/": "", "zero": "-> /dev/zero"})
	root := openRoot(t, dir)
	for _, name := range []string{"pipe", "folder", "zero"} {
		if text, err := root.Read(name, 100); err == nil {
			t.Errorf("%s was read: %q", name, text)
		}
	}
}

func TestWhatIsTooLongIsCut(t *testing.T) {
	root := openRoot(t, tree(t, t.TempDir(), map[string]string{"exact": strings.Repeat("x", 10), "long": strings.Repeat("x", 11)}))
	if text, err := root.Read("exact", 10); err != nil || len(text) != 10 {
		t.Errorf("exact: %d bytes, %v", len(text), err)
	}
	if text, err := root.Read("long", 10); !errors.Is(err, errCut) || len(text) != 10 {
		t.Errorf("long: %d bytes, %v", len(text), err)
	}
}

func TestALinkThatIsExchangedMeanwhileDoesNotLeadOut(t *testing.T) {
	// The walk sees a file where the open sees a link out: os.Root refuses what the walk could not know.
	dir := t.TempDir()
	tree(t, dir, map[string]string{"secret": "of the probe", "root/etc/hosts": "-> ../../secret"})
	root := openRoot(t, filepath.Join(dir, "root"))
	if f, err := root.root.OpenFile("etc/hosts", os.O_RDONLY, 0); err == nil {
		f.Close()
		t.Error("the link was followed out of the root")
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("/run/x", "../y", "a/b")
	f.Add("/", "..", "a")
	f.Add("b", "a", "a/../b/./a")
	f.Add("/proc/self/root", "a/../../../..", "b/c")
	f.Fuzz(func(t *testing.T, first, second, name string) {
		dir := t.TempDir()
		for link, to := range map[string]string{"a": first, "b": second} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				return // A text that no link can have.
			}
		}
		root, err := OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		real, err := root.Resolve(name)
		if err != nil {
			return
		}
		if real != "" && !filepath.IsLocal(real) {
			t.Fatalf("%q leads to %q, outside of the root", name, real)
		}
		if info, err := os.Lstat(filepath.Join(dir, real)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			t.Fatalf("%q leads to %q, which is a link", name, real)
		}
	})
}

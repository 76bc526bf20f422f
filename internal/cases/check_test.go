package cases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// healthy is a case that is met, but for what each test adds.
const healthy = `
settings: {resolvConf: "search a.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n", nsswitch: "hosts: dns\n"}
hosts: [db]
servers: [{address: 10.96.0.10}]
delay: 1ms
rules: [{name: db.a.svc.cluster.local, do: ["a:10.96.1.1"]}]
`

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAFolderIsHeldAgainstWhatItExpects(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.yaml":    healthy + `expect: {class: healthy, says: [db], never: [search-walk]}`,
		"b1.yaml":   "libc: bsd" + healthy,
		"bad.yaml":  "hosts: [",
		"none.yaml": healthy,
		"open.yaml": healthy + `expect: {class: mesh-dns, says: [sidecar], never: [healthy]}`,
		OpenFile:    "# known\nopen there is no rule\n",
	})
	files, err := Files(dir)
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	open, err := Open(dir)
	if err != nil || open["open"] != "there is no rule" || len(open) != 1 {
		t.Fatal(open, err)
	}
	var list []Checked
	for _, f := range files {
		list = append(list, Check(t.Context(), f))
	}
	var out strings.Builder
	if met, of := Report(&out, list, open); met != 1 || of != 5 {
		t.Errorf("%d of %d\n%s", met, of, out.String())
	}
	for _, want := range []string{
		"a                        met     healthy                patch none       2 of 2 statements, 0 forbidden\n",
		"open                     open    healthy                patch none       0 of 2 statements, 1 forbidden\n",
		"MISSED", "it has no block expect", `class "mesh-dns", got "healthy"`, "\n1 of 5\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestFilesOfOneIncidentCountOnce(t *testing.T) {
	dir := folder(t, map[string]string{
		"x-glibc.yaml": healthy + "case: x\nexpect: {class: healthy}",
		"x-musl.yaml":  healthy + "case: x\nlibc: musl-1.2.5\nexpect: {class: healthy}",
		"y-glibc.yaml": healthy + "case: y\nexpect: {class: healthy}",
		"y-musl.yaml":  healthy + "case: y\nlibc: musl-1.2.5\nexpect: {class: mesh-dns}",
	})
	files, err := Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []Checked
	for _, f := range files {
		list = append(list, Check(t.Context(), f))
	}
	var out strings.Builder
	if met, of := Report(&out, list, nil); met != 1 || of != 2 || !strings.HasSuffix(out.String(), "1 of 2 (4 files)\n") {
		t.Errorf("%d of %d\n%s", met, of, out.String())
	}
}

func TestAnEmptyFolderIsAnError(t *testing.T) {
	if files, err := Files(t.TempDir()); err == nil {
		t.Error(files)
	}
}

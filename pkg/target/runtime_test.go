package target

import "testing"

func TestRuntimeOf(t *testing.T) {
	for exe, want := range map[string]string{
		"/usr/lib/jvm/java-17-openjdk-amd64/bin/java": "jvm", "/usr/local/bin/node": "node", "/usr/bin/python3.11": "python",
		"/usr/local/bin/python3.12 (deleted)": "python", "/usr/sbin/nginx": "nginx", "/usr/bin/pythonista": "", "/app/server": "", "": "", "/usr/bin/node-exporter": "",
	} {
		if got := runtimeOf(exe); got != want {
			t.Errorf("%q: %q, want %q", exe, got, want)
		}
	}
}

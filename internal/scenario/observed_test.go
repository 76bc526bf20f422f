package scenario

import (
	"slices"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

func TestObservedAll(t *testing.T) {
	all, err := ObservedAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 172 {
		t.Errorf("%d scenarios, want 172", len(all))
	}
	recordings, packets, results := map[string]int{}, 0, 0
	for _, o := range all {
		if len(o.Calls) == 0 {
			t.Errorf("%s: no calls", o.Name)
		}
		for library, rec := range o.Recordings {
			recordings[library]++
			packets += len(rec.Packets)
			results += len(rec.Results)
			if len(rec.Results) != len(o.Calls) && !rec.Killed && rec.Exit == 0 {
				t.Errorf("%s %s: %d results of %d calls", o.Name, library, len(rec.Results), len(o.Calls))
			}
		}
	}
	if recordings[LibraryGlibc] != 172 || recordings[LibraryGo] != 147 || recordings[LibraryCAres118] != 75 {
		t.Errorf("recordings per library: %v", recordings)
	}
	if packets != 4628 {
		t.Errorf("%d packets, want 4628", packets)
	}
}

func find(t *testing.T, name string) Observed {
	t.Helper()
	all, err := ObservedAll()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(o Observed) bool { return o.Name == name })
	if i < 0 {
		t.Fatalf("no scenario %s", name)
	}
	return all[i]
}

func TestObservedDetails(t *testing.T) {
	o := find(t, "T17r")
	if o.Pause != 6*time.Second || len(o.Calls) != 3 || len(o.Script) != 1 || o.Script[0].At != 9500*time.Millisecond ||
		o.Script[0].ResolvConf != "nameserver 127.0.0.3\n" {
		t.Errorf("T17r: %+v", o)
	}
	if o = find(t, "S29"); len(o.Calls) != 12 || o.Calls[1].Host != "-foo.bar" {
		t.Errorf("S29: %+v", o.Calls)
	}
	if o = find(t, "O15y"); !o.Calls[0].AddrConfig || o.Calls[0].Family != resolver.Inet6 || len(o.System.Addresses) != 2 {
		t.Errorf("O15y: %+v %v", o.Calls, o.System.Addresses)
	}
	if o = find(t, "O05d"); !o.Recordings[LibraryGlibc].Killed || o.Recordings[LibraryGlibc].Packets[0].Transport != SYN {
		t.Errorf("O05d: %+v", o.Recordings[LibraryGlibc])
	}
	if o = find(t, "S10h"); o.System.Hostname != "pod1.ns1.example.test" {
		t.Errorf("S10h: hostname %q", o.System.Hostname)
	}
	if p := find(t, "S11").Recordings[LibraryMusl123].Packets[0]; p.Raw == "" || p.Type != "" || p.Name != "" {
		t.Errorf("S11 musl: %+v", p)
	}
}

package main

import "testing"

func TestParseStatus(t *testing.T) {
	name, got := parseStatus("Name:\tdnsprobe-agent\nUmask:\t0022\nVmPeak:\t 1226148 kB\nVmHWM:\t    9216 kB\nVmRSS:\t    8192 kB\nRssAnon:\t    4096 kB\nThreads:\t7\n")
	want := usage{rss: 8192, anon: 4096, high: 9216}
	if name != "dnsprobe-agent" || got != want {
		t.Errorf("parseStatus: %q %+v, want dnsprobe-agent %+v", name, got, want)
	}
}

func TestTotal(t *testing.T) {
	got := total([]usage{{rss: 3, anon: 2, high: 5}, {rss: 4, anon: 1, high: 6}})
	if want := (usage{rss: 7, anon: 3, high: 11, processes: 2}); got != want {
		t.Errorf("total: %+v, want %+v", got, want)
	}
}

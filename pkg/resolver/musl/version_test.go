package musl

import "testing"

func TestFeaturesOfVersions(t *testing.T) {
	none := features{buffer: 512, oldParser: true}
	half := none
	half.bothHalves = true
	third := half
	third.firstHostsName = true
	fourth := features{
		bothHalves: true, firstHostsName: true, tcp: true, noData: true, skipUnsendable: true, ownType: true, buffer: 768, oldParser: true,
	}
	fifth := fourth
	fifth.buffer, fifth.oldParser = 4800, false
	for version, want := range map[string]features{
		"1.1.24": none, "1.1.20": none, "1.2.0": none, "1.2.1": half, "1.2.2": third, "1.2.2-r10": third, "1.2.3": third, "1.2.3-1": third,
		"1.2.4": fourth, "1.2.4-r2": fourth, "1.2.5": fifth, "1.2.6": fifth, "1.3.0": fifth, "2.0.0": fifth, "": fifth, "unknown": fifth,
	} {
		if got := featuresOf(version); got != want {
			t.Errorf("%q: %+v, want %+v", version, got, want)
		}
	}
}

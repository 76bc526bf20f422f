package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// attempts are the rows of the classic incident, as far as every layout shows them.
var attempts = []string{"1  api.stripe", "2  api.stripe", "3  api.stripe", "4  api.stripe", "5  api.stripe"}

// fits fails when a line of the screen is wider than the terminal, or a row of the incident is missing or torn apart.
func fits(t *testing.T, screen string, width int) {
	t.Helper()
	for line := range strings.Lines(screen) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
			t.Errorf("%d cells in a terminal of %d: %q", n, width, line)
		}
	}
	for i, row := range attempts {
		if n := strings.Count(screen, row); n != 1 {
			t.Errorf("attempt %d is on the screen %d times, want once:\n%s", i+1, n, screen)
		}
	}
	for _, must := range []string{"shop/payments-7d4", "glibc 2.36", "10 queries, 8 of them wasted", "left cluster", "✓ 203.0.113.7", "search-walk"} {
		if !strings.Contains(screen, must) {
			t.Errorf("%q is missing:\n%s", must, screen)
		}
	}
}

func TestDemoIsRightAfterEveryResize(t *testing.T) {
	p := start(t, 80, 24, binary+" demo")
	fits(t, p.shows("a patch was found", "search-walk"), 80)

	p.resize(120, 40)
	wide := p.shows("4  api.stripe.com.ec2.internal.  left cluster", "trailing dot")
	fits(t, wide, 120)

	p.resize(80, 24)
	// At 80 columns the long name is cut in its middle again.
	fits(t, p.wait("the narrow layout", func(s string) bool {
		return strings.Contains(s, "search-walk") && !strings.Contains(s, "api.stripe.com.ec2.internal.  left cluster")
	}), 80)

	p.resize(60, 20)
	p.shows("search-walk", "1  api.stripe")
	p.resize(20, 3)
	p.wait("a sentence about the size or a cut screen", func(s string) bool { return strings.TrimSpace(s) != "" })
	p.resize(120, 40)
	fits(t, p.shows("4  api.stripe.com.ec2.internal.  left cluster", "trailing dot"), 120)
}

func TestDemoDetailsPatchAndQuit(t *testing.T) {
	p := start(t, 100, 30, binary+" demo")
	p.shows("a patch was found")

	p.keys("Home", "Enter")
	p.shows("attempt 1  api.stripe.com.shop.svc.cluster.local.", "NXDOMAIN after", "SOA minimum", "socket 1")
	p.keys("Escape")
	p.shows("What if")

	p.keys("p")
	p.shows("Deployment shop/payments", "+         - name: ndots", "ledger, ledger.core unchanged", "rollout undo")
	p.keys("Escape")
	p.shows("What if")

	p.keys("?")
	p.shows("Keys", "help")
	p.keys("Escape")
	p.shows("What if")

	p.keys("q")
	p.shows("exit code 0")
	left := p.scrollback()
	for _, must := range []string{"10 queries, 8 of them wasted", "search-walk", "ndots:2", "kubectl -n shop patch deployment payments"} {
		if !strings.Contains(left, must) {
			t.Errorf("after q the scrollback lacks %q:\n%s", must, left)
		}
	}
}

func TestCtrlCEndsTheScreenAtOnce(t *testing.T) {
	p := start(t, 80, 24, binary+" demo")
	p.shows("1  api.stripe")
	p.keys("C-c")
	screen := p.shows("exit code 130")
	if strings.Contains(screen, "q quit") {
		t.Errorf("the screen of the program is still there:\n%s", screen)
	}
}

func TestNoColorMeansNoColor(t *testing.T) {
	p := start(t, 80, 24, binary+" demo", "NO_COLOR=1")
	p.shows("a patch was found")
	// -e keeps the escape sequences of the cells: 30 to 37 and 90 to 97 set a colour.
	for seq := range strings.SplitSeq(p.tmux("capture-pane", "-p", "-e"), "\x1b[") {
		codes, _, ok := strings.Cut(seq, "m")
		if !ok {
			continue
		}
		for code := range strings.SplitSeq(codes, ";") {
			if len(code) == 2 && (code[0] == '3' || code[0] == '9') && code[1] != '9' {
				t.Errorf("NO_COLOR is set and a cell has colour %s", code)
			}
		}
	}
}

func TestWithoutUnicodeNothingIsLost(t *testing.T) {
	p := start(t, 80, 24, binary+" demo", "LANG=C", "LC_ALL=C")
	screen := p.shows("a patch was found", "search-walk", "NXDOMAIN")
	for _, r := range screen {
		if r > 0x7e {
			t.Fatalf("%q is on a terminal that says LANG=C:\n%s", r, screen)
		}
	}
}

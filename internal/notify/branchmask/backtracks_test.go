package branchmask

import (
	"strings"
	"testing"
)

// A literal of any length needs no backtracking, though a long one is not quick.
func TestBacktracks(t *testing.T) {
	for _, c := range []struct {
		pattern           string
		backtracks, quick bool
	}{
		{`release/.*`, false, true},
		{strings.Repeat("a", 10_000), false, false},
		{strings.Repeat("[ab]", 2_000), false, false},
		{`a(?=b)`, true, false},
		{`(a)\1`, true, false},
		{strings.Repeat("a", 900) + `(?=b)`, true, false},
	} {
		m, err := Java(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if m.Backtracks() != c.backtracks || m.Quick("main") != c.quick {
			t.Errorf("%.20s: backtracks %v, quick %v", c.pattern, m.Backtracks(), m.Quick("main"))
		}
	}
}

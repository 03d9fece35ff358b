package pages

import (
	"testing"
	"time"

	"outrigger/internal/notify"
)

// A filter that cannot be read leaves a rule without event types.
func TestARuleWithoutFilterHasItsRow(t *testing.T) {
	row := ruleRowOf(&notify.RuleInfo{Rule: notify.Rule{Name: "odd", Enabled: true}}, time.Now())
	if row.Events != "none" {
		t.Errorf("its events are %q", row.Events)
	}
}

func TestNumbersOfTheOverviewEnd(t *testing.T) {
	for n, want := range map[int]string{0: "0", notify.MaxCounted - 1: "9,999", notify.MaxCounted: "10,000 or more"} {
		if got := counted(n, notify.MaxCounted); got != want {
			t.Errorf("%d is said as %q, want %q", n, got, want)
		}
	}
}

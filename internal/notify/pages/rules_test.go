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

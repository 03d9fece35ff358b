package pages

import (
	"slices"
	"testing"
	"time"
)

// Every zone that is offered can be chosen.
func TestTimeZones(t *testing.T) {
	zones := timeZones()
	if len(zones) < 400 || !slices.IsSorted(zones) || !slices.Contains(zones, "Europe/Berlin") || !slices.Contains(zones, "UTC") {
		t.Errorf("%d zones", len(zones))
	}
	for _, name := range zones {
		if _, err := time.LoadLocation(name); err != nil {
			t.Error(err)
		}
	}
}

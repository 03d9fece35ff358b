package main

import (
	"testing"
	"time"

	"outrigger/internal/notify/api"
)

// What waits in quiet hours says until when, in place of a reason.
func TestADeliveryInQuietHoursSaysUntilWhen(t *testing.T) {
	until := time.Now().UTC().Add(3 * time.Hour).Truncate(time.Second)
	for want, d := range map[string]api.Delivery{
		"quiet hours until " + stamp(until):       {State: "waiting", HeldUntil: until},
		"Busy. quiet hours until " + stamp(until): {State: "waiting", HeldUntil: until, Reason: "Busy."},
		"":      {State: "waiting", HeldUntil: until.Add(-4 * time.Hour)},
		"Gone.": {State: "failed", HeldUntil: until, Reason: "Gone."},
	} {
		if got := whyDelivery(&d); got != want {
			t.Errorf("%+v: %q, want %q", d, got, want)
		}
	}
}

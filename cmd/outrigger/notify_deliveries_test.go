package main

import (
	"strings"
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

// A delivery is shown with all of its attempts, each value on one line that a terminal
// takes.
func TestADeliveryIsShownWithItsAttempts(t *testing.T) {
	at := time.Date(2026, 2, 5, 16, 20, 11, 0, time.UTC)
	var out strings.Builder
	if err := printDelivery(&out, &api.Delivery{
		ID: 7, State: "failed", Reason: "Gone.", ProjectKey: "ATL", RepositoryKey: "canoe", Channel: "5f1c", ChannelName: "Releases", CreatedAt: at, FinishedAt: at, Attempts: 3,
		AttemptList: []api.DeliveryAttempt{
			{At: at, Status: 503, Answer: "busy\n\x1b[31m\u202E now", Headers: map[string]string{"Server": "x", "Retry-After": "60"}, Request: "{\"it's\":1}", Seconds: 0.25},
			{At: at, Error: "the connection failed"},
			{At: at, Status: 404, AnswerWithheld: true, RequestWithheld: true},
		},
	}); err != nil {
		t.Fatal(err)
	}
	want := "State\tfailed Gone.|Event\t-|Repository\tATL/canoe|Channel\tReleases 5f1c|Received\t2026-02-05 16:20 UTC|Ended\t2026-02-05 16:20 UTC|Attempts\t3|" +
		"Attempt\t2026-02-05 16:20 UTC: 503 after 0.250 s|  Retry-After\t60|  Server\tx|  Answer\tbusy  [31m  now|  Sent\t{\"it's\":1}|" +
		"Attempt\t2026-02-05 16:20 UTC: no answer after 0.000 s|  Error\tthe connection failed|" +
		"Attempt\t2026-02-05 16:20 UTC: 404 after 0.000 s|  Answer\tshown to administrators only|  Sent\tshown to administrators only|"
	if got := strings.ReplaceAll(out.String(), "\n", "|"); got != want {
		t.Errorf("it prints\n%s\nwant\n%s", got, want)
	}
}

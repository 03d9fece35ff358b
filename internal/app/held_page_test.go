package app

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"outrigger/internal/db"
)

// The page of a delivery that quiet hours hold says until when, as a date too.
func TestTheDeliveryPageSaysUntilWhenItIsHeld(t *testing.T) {
	room, _, _ := chatRoom(t)
	a := start(t, withChat(t))
	rule, refusal := saveRule(t, a, room)
	if refusal != "" {
		t.Fatal(refusal)
	}
	now := time.Now().UTC()
	if status, body := put(t, a, "POST", "/rest/mtbs/1.0/configuration/filter", fmt.Sprintf(
		`{"id":%d,"name":"all","webhookUrl":%q,"eventTypes":["PULL_REQUEST_OPENED"],"quietHours":{"from":%q,"to":%q,"timeZone":"UTC"}}`,
		rule, room, now.Add(-time.Hour).Format("15:04"), now.Add(3*time.Hour).Format("15:04"))); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	opened(t, a, 1)
	var until int64
	if err := a.db.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT held_until FROM notify_deliveries WHERE id = 1`).Scan(&until)
	}); err != nil || until == 0 {
		t.Fatalf("it is not held: %v", err)
	}
	_, page := consolePage(t, a, "/notifications/deliveries/1", nil)
	wants(t, "the delivery", page, "It is held until ", `data-instant>`+db.Time(until).Format("2006-01-02 15:04"), "quiet hours")
	_, page = consolePage(t, a, "/notifications/deliveries", nil)
	wants(t, "the list", page, "waiting, quiet hours", `until <time datetime="`+db.Time(until).Format(time.RFC3339))
}

package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"outrigger/internal/db"
)

// Where not all attempts at a message are kept, REST and the page say how many
// there were.
func TestHowOftenAMessageWasTried(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	a.chat.outbox.Stop() // the attempts are written here
	makeRule(t, a, `"name":"pushes","eventTypes":["BRANCH_UPDATED"]`)
	for _, branch := range []string{"first", "second"} {
		hooked(t, a, "repo:refs_changed", fmt.Sprintf(`{"eventKey":"repo:refs_changed","date":"2026-01-02T03:04:05+0000",
			"actor":{"name":"ada"},"repository":{"slug":"canoe","name":"canoe","project":{"key":"ATL","name":"Atlas"}},
			"changes":[{"ref":{"id":"refs/heads/%[1]s","displayId":"%[1]s","type":"BRANCH"},"refId":"refs/heads/%[1]s",
				"fromHash":"1111111111111111111111111111111111111111","toHash":"2222222222222222222222222222222222222222","type":"UPDATE"}]}`, branch))
	}
	if err := a.db.Write(t.Context(), func(tx *db.Tx) error {
		for n := range 50 {
			if n >= 10 {
				n += 1002
			}
			if _, err := tx.Exec(t.Context(), `INSERT INTO notify_attempts (delivery_id, number, at, took, status, answer, error)
				VALUES (1, $1, 1, 1, 429, '', '') ON CONFLICT DO NOTHING`, n+1); err != nil {
				return err
			}
		}
		_, err := tx.Exec(t.Context(), `UPDATE notify_deliveries SET state = 'failed', finished_at = 1, attempts = 1052 WHERE id = 1`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	status, body := put(t, a, http.MethodGet, "/rest/mtbs/1.0/configuration/deliveries/1", "")
	var d struct {
		Attempts    int
		AttemptList []any
	}
	if err := json.Unmarshal([]byte(body), &d); err != nil || status != http.StatusOK || d.Attempts != 1052 || len(d.AttemptList) != 50 {
		t.Errorf("%d %v %s", status, err, body)
	}
	_, page := consolePage(t, a, "/notifications/deliveries/1", nil)
	wants(t, "the page", page, "1,002 attempts between, which are not kept", "Attempt 10: 429", "Attempt 1013: 429", "Attempt 1052: 429")
	_, page = consolePage(t, a, "/notifications/deliveries/2", nil)
	if strings.Contains(page, "are not kept") {
		t.Error("the page of another says it too")
	}
}

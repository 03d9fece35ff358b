package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// The page of a delivery shows the digest that it goes out in, to each reader
// what they may see of it.
func TestDigestOfADelivery(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	for _, project := range []string{"ATL", "PAC"} {
		makeRule(t, a, fmt.Sprintf(`"name":"rule of %s","projectKey":%[1]q,"eventTypes":["BRANCH_UPDATED"]`, project))
		for _, branch := range []string{"first", "second"} {
			hooked(t, a, "repo:refs_changed", fmt.Sprintf(`{"eventKey":"repo:refs_changed","date":"2026-01-02T03:04:05+0000",
				"actor":{"name":"ada","displayName":"Ada Lovelace"},
				"repository":{"slug":"canoe","name":"canoe","project":{"key":%q,"name":"P"}},
				"changes":[{"ref":{"id":"refs/heads/%[2]s","displayId":"%[2]s","type":"BRANCH"},"refId":"refs/heads/%[2]s",
					"fromHash":"1111111111111111111111111111111111111111","toHash":"2222222222222222222222222222222222222222","type":"UPDATE"}]}`, project, branch))
		}
	}
	const path = "/notifications/deliveries/2"
	if status, body := consolePage(t, a, path, nil); status != 200 || strings.Contains(body, `id="digest"`) || !strings.Contains(body, "<h2>Card</h2>") {
		t.Errorf("one that goes out alone: %d %s", status, body)
	}
	if err := a.db.Write(t.Context(), func(tx *db.Tx) error {
		n, err := tx.Exec(t.Context(), `UPDATE notify_deliveries SET batch = 1 WHERE id <= 3`)
		if n != 3 {
			t.Errorf("%d deliveries are bound", n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	status, body := consolePage(t, a, path, nil)
	if status != 200 || strings.Contains(body, "Not shown:") {
		t.Errorf("%d %s", status, body)
	}
	for _, text := range []string{"3 notifications from 2 repositories", `deliveries/1"`, `deliveries/2"`, `deliveries/3"`, "PAC / canoe"} {
		if !strings.Contains(body, text) {
			t.Errorf("the digest does not show %q: %s", text, body)
		}
	}
	if strings.Contains(body, `deliveries/4"`) {
		t.Errorf("it shows what is not in it: %s", body)
	}

	if _, err := a.identity.CreateUser(t.Context(), "ana", secret.New(password)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.identity.Grant(t.Context(), "ana", identity.ProjectAdmin, identity.Resource{Connection: "main", Project: "ATL"}); err != nil {
		t.Fatal(err)
	}
	session, _, err := a.identity.SignIn(t.Context(), "ana", password, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	status, body = get(t, a.URL()+path, func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
	})
	if status != 200 || !strings.Contains(body, "2 notifications from ATL/canoe") || !strings.Contains(body, "1 more in this digest") ||
		strings.Contains(body, "PAC") || strings.Contains(body, `deliveries/3"`) {
		t.Errorf("as an administrator of one project: %d %s", status, body)
	}
}

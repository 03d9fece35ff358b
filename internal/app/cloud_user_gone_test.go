package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// Who deletes a user is told which rules belong to the user's accounts. Then the
// account is not used any more and says why, its rules ask for it, and an
// administrator revokes it.
func TestTheUserOfACloudAccountIsDeleted(t *testing.T) {
	t.Parallel()
	a, _ := cloudWorld(t)
	ada := newPerson(t, a, "ada")
	ada.consent(ada.leave("/notifications/cloud"), "grant")
	const rules, users = "/rest/mtbs/1.0/cloud/acme/shop/rules", "/rest/outrigger/1.0/users/ada"
	if status, answer := postJSON(t, a, rules+"?connection=cloud", "ada", `{"name":"builds","webhookUrl":"https://hooks.slack.com/services/T0/B0/x","expectedEvents":["PIPELINE_FAILED"]}`); status != http.StatusCreated {
		t.Fatalf("%d %v", status, answer)
	}
	if status, body := get(t, a.URL()+users, asAdmin); status != 200 || !strings.Contains(body, "1 rule of cloud belongs to the account Ana, which this user authorised.") {
		t.Errorf("before: %d %s", status, body)
	}
	if status, body := get(t, a.URL()+"/rest/outrigger/1.0/users/bob", asAdmin); status != 200 || strings.Contains(body, "dependents") {
		t.Errorf("of another: %d %s", status, body)
	}
	if status, body := put(t, a, http.MethodDelete, users, ""); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
	if err := a.chat.accounts.Use(t.Context(), 1, func(*notify.Connection, secret.Value) error { return nil }); err == nil {
		t.Error("the account is used on")
	}
	if status, body := get(t, a.URL()+rules+"?connection=cloud", asAdmin); status != 200 || !strings.Contains(body, `"authorizationRequired":true`) {
		t.Errorf("the rule: %d %s", status, body)
	}
	if status, body := get(t, a.URL()+"/rest/mtbs/1.0/cloud/authorizations", asAdmin); status != 200 || !strings.Contains(body, `"userState":"deleted","state":"withdrawn"`) || !strings.Contains(body, "The user ada, who authorised it, was deleted.") {
		t.Errorf("the account: %d %s", status, body)
	}
	admin := newPerson(t, a, "admin")
	admin.sees("/notifications/cloud/accounts", 200, "withdrawn", "The user ada, who authorised it, was deleted. Its rules still take events", "Revoke")
	if _, _, body := admin.send("POST", "/notifications/cloud/accounts/1/revoke", url.Values{}); !strings.Contains(body, "The account Ana is revoked.") {
		t.Error(body)
	}
}

package app

import (
	"strings"
	"testing"
)

// Before a user is disabled or deleted, the console says what becomes of the cloud
// accounts of the user.
func TestUsersPageNamesCloudAccounts(t *testing.T) {
	t.Parallel()
	a, _ := cloudWorld(t)
	ada := newPerson(t, a, "ada")
	ada.consent(ada.leave("/notifications/cloud/accounts"), "grant")
	root := newPerson(t, a, "admin")
	for page, want := range map[string]string{
		"": "the account Ana of cloud (0 rules)", "/disable": "The account Ana of cloud (0 rules) is not used meanwhile.",
		"/delete": "The account Ana of cloud (0 rules) is withdrawn",
	} {
		status, _, body := root.send("GET", "/system/users/named/ada"+page, nil)
		if status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d, it does not say %q: %s", page, status, want, body)
		}
	}
	if _, _, body := root.send("GET", "/system/users/named/bob", nil); strings.Contains(body, "the account") {
		t.Errorf("bob has an account: %s", body)
	}
	if _, _, body := root.send("GET", "/system/users/named/bob/grant", nil); !strings.Contains(body, `<option value="bare">`) {
		t.Errorf("the connections are not suggested: %s", body)
	}
}

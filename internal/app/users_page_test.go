package app

import (
	"strings"
	"testing"
)

// Before a user is disabled or deleted, the console says which cloud accounts of
// the user stay in use.
func TestUsersPageNamesCloudAccounts(t *testing.T) {
	a, _ := cloudWorld(t)
	ada := newPerson(t, a, "ada")
	ada.consent(ada.leave("/notifications/cloud/accounts"), "grant")
	root := newPerson(t, a, "admin")
	for _, page := range []string{"", "/disable", "/delete"} {
		status, _, body := root.send("GET", "/system/users/named/ada"+page, nil)
		if want := "The account Ana of cloud, which ada authorised, stays in use for 0 rules"; status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d, it does not say %q: %s", page, status, want, body)
		}
	}
	if _, _, body := root.send("GET", "/system/users/named/bob", nil); strings.Contains(body, "authorised") {
		t.Errorf("bob has an account: %s", body)
	}
	if _, _, body := root.send("GET", "/system/users/named/bob/grant", nil); !strings.Contains(body, `<option value="bare">`) {
		t.Errorf("the connections are not suggested: %s", body)
	}
}

package pages

import (
	"testing"

	"outrigger/internal/audit"
)

func TestEntriesAreSentences(t *testing.T) {
	for action, want := range map[string]string{
		"create": "created", "update": "updated", "delete": "deleted", "cancel": "cancelled", "redeliver": "redelivered", "try": "tried", "deploy": "deployed",
		"look": "looked at", "accept removal": "accepted removals in", "reload": "reloaded", "forget": "forgot", "send test": "sent test",
	} {
		if got := past(action); got != want {
			t.Errorf("%s is %q, want %q", action, got, want)
		}
	}
}

func TestWhatWasDoneToAThing(t *testing.T) {
	for want, e := range map[string]audit.Entry{
		"granted rights to the user": {Action: "grant", Object: "user"}, "revoked rights of the group": {Action: "revoke", Object: "group"},
		"revoked the token": {Action: "revoke", Object: "token"}, "created the user": {Action: "create", Object: "user"},
		"set the password of the user": {Action: "set password", Object: "user"}, "signed in": {Action: "sign in", Object: "session"},
		"resent the message": {Action: "resend", Object: "message"}, "deleted messages of the mail queue": {Action: "delete", Object: "mail queue"},
	} {
		if got := did(&audit.Stored{Entry: e}); got != want {
			t.Errorf("%+v is %q, want %q", e, got, want)
		}
	}
}

func TestEntriesLeadToTheirThings(t *testing.T) {
	for want, e := range map[string]audit.Entry{
		"/notifications/rules/7":             {Object: "rule", Action: "update", ObjectID: "7"},
		"/system/users/named/oidc%3Aada%2Fx": {Object: "user", Action: "create", ObjectID: "oidc:ada/x"},
		"":                                   {Object: "rule", Action: "delete", ObjectID: "7"},
	} {
		if got := home(&audit.Stored{Entry: e}); got != want {
			t.Errorf("%+v leads to %q, want %q", e, got, want)
		}
	}
	for _, e := range []audit.Entry{{Object: "delivery", Action: "redeliver", ObjectID: "3–9"}, {Object: "settings", Action: "update"}, {Object: "rule", Action: "update"}} {
		if got := home(&audit.Stored{Entry: e}); got != "" {
			t.Errorf("%+v leads to %q", e, got)
		}
	}
}

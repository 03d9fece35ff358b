package pages

import (
	"cmp"
	"strings"

	"outrigger/internal/audit"
	"outrigger/internal/console"
)

// irregular are verbs whose past is no "-ed" behind them.
var irregular = map[string]string{
	"send": "sent", "resend": "resent", "set": "set", "put": "put",
	"run": "ran", "undo": "undid", "forget": "forgot", "begin": "began", "take": "took",
	"cancel": "cancelled", "drop": "dropped", "stop": "stopped", "withdraw": "withdrew", "look": "looked at", "sign": "signed",
	"reset":          "reset",
	"accept removal": "accepted removals in",
}

// ofObjects is what was done to one kind of thing alone.
var ofObjects = map[string]string{
	"grant user": "granted rights to the user", "revoke user": "revoked rights of the user",
	"grant group": "granted rights to the group", "revoke group": "revoked rights of the group",
	"authorize authorisation": "authorised the account", "revoke authorisation": "revoked the account",

	"set password user":         "set the password of the user",
	"remove second factor user": "removed the second factor of the user",
	"add passkey user":          "added a passkey for the user", "remove passkey user": "removed a passkey of the user",
	"make recovery codes user":      "made recovery codes for the user",
	"add authenticator app user":    "added an authenticator app for the user",
	"remove authenticator app user": "removed the authenticator app of the user",
	"make confirmation code user":   "made a confirmation code for the user",
	"use confirmation code user":    "used a confirmation code of the user",

	"delete mail queue": "deleted messages of the mail queue", "resend mail queue": "resent messages of the mail queue",

	"sign in session": "signed in", "revoke session": "ended a session", "revoke sessions": "ended sessions",
	"revoke tokens": "revoked tokens",
}

// did says what was done, and to what kind of thing.
func did(e *audit.Stored) string {
	return cmp.Or(ofObjects[e.Action+" "+e.Object], past(e.Action)+" the "+e.Object)
}

// past says an action as it was done: "delete" is "deleted".
func past(action string) string {
	if said := irregular[action]; said != "" {
		return said
	}
	verb, rest, _ := strings.Cut(strings.ReplaceAll(action, "_", " "), " ")
	said := irregular[verb]
	switch {
	case said != "":
	case strings.HasSuffix(verb, "ed"):
		said = verb
	case strings.HasSuffix(verb, "e"):
		said = verb + "d"
	case len(verb) > 1 && strings.HasSuffix(verb, "y") && !strings.ContainsRune("aeiou", rune(verb[len(verb)-2])):
		said = strings.TrimSuffix(verb, "y") + "ied"
	default:
		said = verb + "ed"
	}
	return strings.TrimSpace(said + " " + rest)
}

// homes are the pages of things, by what the trail calls them; the id follows.
var homes = map[string]string{
	"rule": "/notifications/rules/%s", "report": "/notifications/reports/%s", "connection": "/notifications/connections/%s",
	"delivery": "/notifications/deliveries/%s", "channel": "/notifications/channels/%s", "message": "/mail/messages/%s",
	"user": "/system/users/named/%s", "group": "/system/groups/named/%s",
}

// thing is what people called what an entry is about: by its number where it has no name.
func thing(e *audit.Stored) string {
	switch e.Object {
	case "session", "sessions", "tokens":
		return ""
	case "token", "authorisation": // which have their names among their members
		return cmp.Or(e.ObjectName, e.After["name"], e.Before["name"], e.After["account"], e.Before["account"], e.ObjectID)
	}
	return cmp.Or(e.ObjectName, e.ObjectID)
}

// home is the page of what an entry is about; "" where there is none, or none any more.
func home(e *audit.Stored) string {
	page := homes[e.Object]
	if page == "" || e.ObjectID == "" || e.Action == "delete" || strings.ContainsAny(e.ObjectID, " –,") {
		return ""
	}
	return console.Path(page, e.ObjectID)
}

// place is where the thing is: in no project or connection, the part of the program.
func place(e *audit.Stored) string {
	var parts []string
	for _, part := range []string{e.Connection, e.Project, e.Repository} {
		if part != "" && part != e.ObjectID {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		for _, area := range areas {
			if area.Value == e.Area {
				return area.Label
			}
		}
	}
	return strings.Join(parts, " / ")
}

package pages

import (
	"cmp"
	"strings"

	"outrigger/internal/audit"
	"outrigger/internal/console"
)

// irregular are verbs whose past is no "-ed" behind them.
var irregular = map[string]string{
	"send": "sent", "set": "set", "put": "put", "run": "ran", "undo": "undid", "forget": "forgot", "begin": "began", "take": "took",
	"cancel": "cancelled", "drop": "dropped", "stop": "stopped", "withdraw": "withdrew", "look": "looked at", "sign": "signed",
	"reset":          "reset",
	"accept removal": "accepted removals in", "sign in": "signed in with",
}

// ofObjects are what an action is called that was done to one kind of thing alone.
var ofObjects = map[string]string{
	"grant user": "granted rights to", "grant group": "granted rights to", "revoke user": "revoked rights of",
	"revoke group":            "revoked rights of",
	"authorize authorisation": "gave",
}

// did says what was done to the thing of an entry.
func did(e *audit.Stored) string { return cmp.Or(ofObjects[e.Action+" "+e.Object], past(e.Action)) }

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
	"user": "/system/users/named/%s",
}

// home is the page of what an entry is about; "" where there is none, or none any more.
func home(e *audit.Stored) string {
	page := homes[e.Object]
	if page == "" || e.ObjectID == "" || e.Action == "delete" || strings.ContainsAny(e.ObjectID, " –,") {
		return ""
	}
	return console.Path(page, e.ObjectID)
}

// place is where the thing is.
func place(e *audit.Stored) string {
	var parts []string
	for _, part := range []string{e.Connection, e.Project, e.Repository} {
		if part != "" && part != e.ObjectID {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " / ")
}

package pages

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"outrigger/internal/audit"
	"outrigger/internal/identity"
)

// Words are those of the forms in which people change things.
type Words struct {
	Label func(member string) string        // a member as a form calls it; the member itself where none does
	Value func(member, value string) string // a value that is stored as JSON
}

// change is a member that has another value, in words.
type change struct{ Name, Before, After string }

// changes are what an entry changed. A member that the new thing does not have is
// left out, and one of a rule's filter stands by itself.
func (w Words) changes(e *audit.Stored) (list []change) {
	before, after := w.members(e.Before), w.members(e.After)
	for name, was := range before {
		if is := after[name]; was != is {
			list = append(list, change{name, was, is})
		}
	}
	for name, is := range after {
		if _, both := before[name]; !both && is != "" {
			list = append(list, change{name, "", is})
		}
	}
	slices.SortFunc(list, func(a, b change) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (w Words) members(stored map[string]string) map[string]string {
	said := make(map[string]string)
	for name, value := range stored {
		var inside map[string]json.RawMessage
		if name != "filter" && name != "options" || json.Unmarshal([]byte(value), &inside) != nil {
			said[w.label(name)] = inWords(name, value)
			continue
		}
		for name, value := range inside {
			said[w.label(name)] = inWords(name, w.Value(name, string(value)))
		}
	}
	return said
}

// labels are what members are called that no form has by that name.
var labels = map[string]string{
	"channel": "Fingerprint", "key": "Key", "way": "Signed in by", "expiresAt": "Valid until", "expires": "Valid until",
	"authorizedBy": "Authorised by", "proxyUrl": "Outgoing proxy", "acceptIncomplete": "Incomplete files accepted",
	"acceptOtherSite": "Another site accepted", "removes": "Records removed", "of": "Records before", "asOf": "Asked at", "id": "Messages",
	"restoredAt": "Restored at",
}

// label is what people call a member: of what has no form, its name as words.
func (w Words) label(member string) string {
	if said := labels[member]; said != "" {
		return said
	}
	if said := w.Label(member); said != member || strings.ContainsAny(member, "./") { // a setting, a file
		return said
	}
	var words strings.Builder
	for i, r := range member {
		switch {
		case i == 0:
			r = unicode.ToUpper(r)
		case unicode.IsUpper(r):
			words.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		words.WriteRune(r)
	}
	return words.String()
}

var permissions = map[string]string{
	string(identity.SysAdmin): "administers the whole system", string(identity.Admin): "administers all rules, reports and settings",
	string(identity.ProjectAdmin): "administers a project", string(identity.RepoAdmin): "administers a repository",
}

// inWords writes a value that is a code the way people read it.
func inWords(member, value string) string {
	switch member {
	case "permission":
		if said := permissions[value]; said != "" {
			return said
		}
	case "enabled", "mentionReviewers", "skipDrafts", "manageWebhooks", "acceptIncomplete", "acceptOtherSite":
		switch value {
		case "true":
			return "yes"
		case "false":
			return "no"
		}
	case "frequency", "day", "expectedCommitStatus", "state", "phase":
		return strings.ToLower(strings.ReplaceAll(value, "_", " "))
	}
	return value
}

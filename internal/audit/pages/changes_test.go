package pages

import (
	"reflect"
	"testing"

	"outrigger/internal/audit"
)

// Changes are told in the words of the forms; where no form has a member, its name is
// written as words. Of a rule's filter only what differs is told.
func TestChangesAreInWords(t *testing.T) {
	words := Words{
		Label: func(member string) string {
			if member == "eventTypes" {
				return "Events"
			}
			return member
		},
		Value: func(_, value string) string { return "read " + value },
	}
	got := words.changes(&audit.Stored{Entry: audit.Entry{
		Before: map[string]string{"filter": `{"eventTypes":["A"],"branchMask":"x"}`, "recoveryCodes": "10", "projectKey": ""},
		After: map[string]string{
			"filter": `{"eventTypes":["B"],"branchMask":"x"}`, "enabled": "true", "permission": "SYS_ADMIN", "notify.connections": "3",
			"frequency": "WORKING_DAY", "projectKey": "",
		},
	}})
	want := []change{
		{"Enabled", "", "yes"}, {"Events", `read ["A"]`, `read ["B"]`}, {"Frequency", "", "working day"},
		{"Permission", "", "administers the whole system"}, {"Recovery codes", "10", ""}, {"notify.connections", "", "3"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

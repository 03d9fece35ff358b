package bitbucketcloud

import (
	"fmt"
	"strings"
	"testing"

	"outrigger/internal/notify/card"
)

// The platform's bodies name who is to do an issue "assignee", "responsible", or
// both: a card says it once.
func TestAnIssueHasOneAssignee(t *testing.T) {
	const (
		grace = `{"display_name":"Grace Hopper","account_id":"g"}`
		ada   = `{"display_name":"Ada Lovelace","account_id":"a"}`
		both  = `"assignee":{"old":` + ada + `,"new":` + grace + `}`
		name  = `"responsible":{"old":"ada","new":"grace"}`
	)
	for changes, want := range map[string]string{
		`"priority":{"old":"minor","new":"major"}`: "Assignee: Grace Hopper",
		both:              "Assignee: Ada Lovelace → Grace Hopper",
		name:              "Assignee: ada → grace",
		both + `,` + name: "Assignee: Ada Lovelace → Grace Hopper",
		name + `,` + both: "Assignee: Ada Lovelace → Grace Hopper",
		`"responsible":{"old":null,"new":"grace"},"assignee":{"old":null,"new":` + grace + `}`: "Assignee: none → Grace Hopper",
		`"assignee":{"old":` + grace + `,"new":null},"responsible":{"old":"grace","new":null}`: "Assignee: Grace Hopper → none",
		`"responsible":{"old":"grace","new":"grace"},"priority":{"old":"minor","new":"major"}`: "Assignee: Grace Hopper",
	} {
		e := decodeOne(t, "issue:updated", fmt.Sprintf(`{"actor":%s,"repository":{"full_name":"atlas/engine","name":"engine"},
			"issue":{"id":7,"title":"The bell rings twice","assignee":%s},"changes":{%s}}`, ada, grace, changes))
		var got []string
		for _, f := range card.New(&e).Facts {
			if f.Name == "Assignee" || f.Name == "Responsible" {
				got = append(got, f.Name+": "+f.Value)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("changes {%s}: %q, want %q", changes, got, want)
		}
	}
}

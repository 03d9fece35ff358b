package processing

import (
	"net/http"
	"testing"

	"outrigger/internal/threads"
)

// What the target did not take is no matter of permission; each reason is said with
// its own count and its own last answer, also where several meet.
func TestUndoFailureSaysWhy(t *testing.T) {
	left := func(r threads.Reason, status int, text string) threads.UndoLeft {
		return threads.UndoLeft{Reason: r, Answer: threads.Answer{Status: status, Text: text}}
	}
	forbidden := left(threads.TargetForbidden, http.StatusForbidden, "No.")
	wrong := left(threads.TargetForbidden, http.StatusBadRequest, "The value is no JSON.")
	large := left(threads.TargetForbidden, http.StatusRequestEntityTooLarge, "")
	for want, list := range map[string][]threads.UndoLeft{
		"": {left(threads.ChangedByOthers, 0, "")},
		"The target forbids writing to 2 issues (the last answer: 403 No). Give the account the permission to edit issues. ": {forbidden, forbidden},
		"The target did not take what 1 issue had before (the last answer: 400 The value is no JSON). ":                      {wrong},
		"The target forbids writing to 1 issue (the last answer: 403 No). Give the account the permission to edit issues. " +
			"The target did not take what 2 issues had before (the last answer: 413). " +
			"The target does not show 1 issue (the last answer: 404 Gone), which may come back. ": {wrong, forbidden, large, left(threads.TargetNotFound, 404, "Gone.")},
	} {
		if got := undoFailure(list); got != want {
			t.Errorf("%q instead of %q", got, want)
		}
	}
}

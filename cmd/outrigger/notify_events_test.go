package main

import (
	"bytes"
	"testing"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/api"
)

func TestExplanationIsPrinted(t *testing.T) {
	x := api.Explanation{
		Event: api.Event{ID: 8, Key: "repo:refs_changed", Outcome: "taken", EventTypes: []notify.EventType{notify.BranchUpdated}},
		Items: []api.RuleVerdict{
			{ID: 3, Level: "REPOSITORY", Name: "mine", Outcome: "taken", Delivery: 44},
			{ID: 4, Level: "PROJECT", Name: "a\tb", Outcome: "refused", Filter: "sourceBranchMask", Wants: "hotfix/.*"},
			{ID: 6, Level: "PROJECT", Name: "never", Outcome: "refused", Filter: "ignoredBranchMask", Wants: "not wip/.*", Has: "wip/x"},
			{ID: 5, Level: "GLOBAL", Name: "masked", Outcome: "taken", Note: "Sent without asking groups.", Delivery: 45},
			{ID: 9, Level: "REPOSITORY", Name: "paused", Outcome: "refused", Filter: "authorization", Note: "Its account Ana was revoked."},
		},
		OtherRules: 2,
		Deliveries: []api.Delivery{
			{ID: 44, State: "failed", Reason: "400: no such workflow"},
			{ID: 45, State: "waiting", HeldUntil: time.Date(2100, 1, 2, 6, 0, 0, 0, time.UTC)},
		},
	}
	x.Hidden.Rules, x.Hidden.Taken = 3, 1
	var out bytes.Buffer
	if err := printExplanation(streams{out: &out}, &x); err != nil {
		t.Fatal(err)
	}
	const want = "# event 8, -, repo:refs_changed: taken\n" +
		"# rules that you do not administer: 3, of which 1 took it\n" +
		"# rules of other projects and repositories, not listed because they never take events of this one: 2\n" +
		"3\tREPOSITORY\tmine\ttaken\t-\t44 failed 400: no such workflow\n" +
		"4\tPROJECT\ta b\trefused\tSource branch mask: the rule wants hotfix/.*, the event has none.\t-\n" +
		"6\tPROJECT\tnever\trefused\tNever these branches: the rule excludes wip/.*, the event has wip/x.\t-\n" +
		"5\tGLOBAL\tmasked\ttaken\tSent without asking groups.\t45 waiting for the end of quiet hours at 2100-01-02 06:00 UTC\n" +
		"9\tREPOSITORY\tpaused\trefused\tAuthorisation: Its account Ana was revoked.\t-\n"
	if out.String() != want {
		t.Errorf("printed:\n%s\nwant:\n%s", out.String(), want)
	}
}

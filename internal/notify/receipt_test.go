package notify

import (
	"testing"

	"outrigger/internal/fault"
)

// What becomes of a webhook is decided without a database.
func TestMatch(t *testing.T) {
	rule := func(id, channel int64) *Rule {
		return &Rule{ID: id, ChannelID: channel, Connection: "dc", Format: Teams, Enabled: true, Filter: Filter{EventTypes: []EventType{BranchUpdated}}}
	}
	rules, _ := new(RuleSet).Next(7, []*Rule{rule(1, 10), rule(2, 20), rule(3, 10)})
	rules.Platforms = NewPlatforms(1, new(Connections), Connections{{Name: "dc"}}, []*Hook{
		{ID: 1, Connection: "dc"}, {ID: 2, Connection: "dc", Name: "canoe", Scope: Scope{"ATL", "canoe"}},
	}, nil)
	webhook := func(hook string, id int64, repository string) *Receipt {
		return &Receipt{Connection: "dc", Hook: hook, HookID: id, Events: []Event{*pushTo("ATL", repository, "main", "ada")}}
	}
	for _, c := range []struct {
		name       string
		receipt    *Receipt
		deliveries int
		want       fault.Code
	}{
		{"one delivery a channel", webhook("", 1, "canoe"), 2, ""},
		{"in the scope of its hook", webhook("canoe", 2, "canoe"), 2, ""},
		{"outside the scope of its hook", webhook("canoe", 2, "kayak"), 0, fault.Forbidden},
		{"of a hook that was made anew", webhook("canoe", 3, "canoe"), 0, fault.NotFound},
		{"of a hook that is gone", webhook("hull", 4, "canoe"), 0, fault.NotFound},
	} {
		c.receipt.Match(rules)
		if len(c.receipt.Deliveries) != c.deliveries || fault.CodeOf(c.receipt.Refusal) != c.want || c.receipt.Generation != 7 {
			t.Errorf("%s: %d deliveries by generation %d, refused with %v", c.name, len(c.receipt.Deliveries), c.receipt.Generation, c.receipt.Refusal)
		}
	}
	two := webhook("", 1, "canoe")
	two.Match(rules)
	if d := two.Deliveries[0]; len(d.Rules) != 2 || d.Rules[0] != 1 || d.Rules[1] != 3 || d.Generation != 7 {
		t.Errorf("the first delivery is for the rules %v by generation %d", d.Rules, d.Generation)
	}
}

package notify

import (
	"testing"

	"outrigger/internal/identity"
)

// Who may see a delivery is decided by its rules and by what its event is about:
// a rule that moved to other keys takes no old event to new administrators.
func TestWhoSeesADelivery(t *testing.T) {
	who := func(perm identity.Permission, project, repository string) *identity.Principal {
		at := identity.Resource{Connection: "dc", Project: project, Repository: repository}
		return &identity.Principal{Grants: []identity.Grant{{Permission: perm, Resource: at}}}
	}
	rule := func(project, repository string) RuleInfo {
		return RuleInfo{Rule: Rule{Connection: "dc", ProjectKey: project, RepositoryKey: repository}}
	}
	event := func(project, repository string) *Event {
		return &Event{Connection: "dc", Project: Project{Key: project}, Repository: Repository{Key: repository}}
	}
	for name, c := range map[string]struct {
		who             *identity.Principal
		event           *Event
		rules           []RuleInfo
		sees, changesIt bool
	}{
		"of their project":                       {who(identity.ProjectAdmin, "ATL", ""), event("atl", "canoe"), []RuleInfo{rule("ATL", "")}, true, true},
		"of their repository":                    {who(identity.RepoAdmin, "ATL", "canoe"), event("ATL", "canoe"), []RuleInfo{rule("ATL", "canoe")}, true, true},
		"of before their rule moved to them":     {who(identity.ProjectAdmin, "SHOP", ""), event("ATL", "canoe"), []RuleInfo{rule("SHOP", "")}, false, false},
		"of their repository, by another's rule": {who(identity.RepoAdmin, "ATL", "canoe"), event("ATL", "canoe"), []RuleInfo{rule("ATL", "")}, false, false},
		"by their rule and another's":            {who(identity.RepoAdmin, "ATL", "canoe"), event("ATL", "canoe"), []RuleInfo{rule("ATL", "canoe"), rule("ATL", "")}, true, false},
		"of no project":                          {who(identity.ProjectAdmin, "ATL", ""), event("", ""), []RuleInfo{rule("ATL", "")}, false, false},
		"that cannot be read":                    {who(identity.ProjectAdmin, "ATL", ""), nil, []RuleInfo{rule("ATL", "")}, true, true},
		"of anything, for an ADMIN":              {who(identity.Admin, "", ""), event("ATL", "canoe"), []RuleInfo{rule("SHOP", "")}, true, true},
		"without rules, for an ADMIN":            {who(identity.Admin, "", ""), event("ATL", "canoe"), nil, true, true},
		"without rules":                          {who(identity.ProjectAdmin, "ATL", ""), event("ATL", "canoe"), nil, false, false},
		"of anything, for nobody":                {nil, event("ATL", "canoe"), []RuleInfo{rule("ATL", "")}, false, false},
	} {
		d := DeliveryInfo{Delivery: &Delivery{Event: c.event}, Rules: c.rules}
		if got := d.VisibleTo(c.who); got != c.sees {
			t.Errorf("a delivery %s: seen %t", name, got)
		}
		if got := d.ChangeableBy(c.who); got != c.changesIt {
			t.Errorf("a delivery %s: changed %t", name, got)
		}
	}
}

package notify

import "testing"

func TestJudgeRename(t *testing.T) {
	ref := func(project, repository string) RepositoryRef {
		return RepositoryRef{ProjectKey: project, RepositoryKey: repository}
	}
	var nothing Occupants
	rules, grants := Occupants{Rules: 2}, Occupants{Rules: 1, Grants: 1}
	everything := &Hook{}
	project := &Hook{Scope: Scope{ProjectKey: "A"}}
	offered := &Hook{Scope: Scope{ProjectKey: "A"}, Offered: []KeyChange{{From: ref("A", "x"), To: ref("B", "x")}}}
	for _, c := range []struct {
		name        string
		hook        *Hook
		from, to    RepositoryRef
		here, there Occupants
		want        RenameOutcome
	}{
		{"both keys in scope", project, ref("A", "x"), ref("A", "y"), rules, nothing, RenameOutcome{Move: true}},
		{"a scope in other case", project, ref("a", "x"), ref("a", "y"), rules, nothing, RenameOutcome{Move: true}},
		{"the connection's own hook", everything, ref("A", ""), ref("B", ""), rules, nothing, RenameOutcome{Move: true}},
		{"permissions stay", project, ref("A", "x"), ref("A", "y"), grants, nothing, RenameOutcome{Move: true, Offer: HasGrants}},
		{"only permissions", project, ref("A", "x"), ref("A", "y"), Occupants{Grants: 1}, nothing, RenameOutcome{Move: true, Offer: HasGrants}},
		{"nothing at the old key", project, ref("A", "x"), ref("B", "x"), nothing, rules, RenameOutcome{}},
		{"out of the scope", project, ref("A", "x"), ref("B", "x"), rules, nothing, RenameOutcome{Offer: OutOfScope}},
		{"out of the scope, and occupied", project, ref("A", "x"), ref("B", "x"), rules, rules, RenameOutcome{Offer: OutOfScope}},
		{"occupied by rules", project, ref("A", "x"), ref("A", "y"), rules, rules, RenameOutcome{Offer: Occupied}},
		{"occupied by a hook", project, ref("A", "x"), ref("A", "y"), rules, Occupants{Hooks: 1}, RenameOutcome{Offer: Occupied}},
		{"occupied by permissions", everything, ref("A", "x"), ref("A", "y"), grants, Occupants{Grants: 1}, RenameOutcome{Offer: Occupied}},
		{"once more, from an offered key", offered, ref("B", "x"), ref("C", "x"), nothing, nothing,
			RenameOutcome{Change: KeyChange{From: ref("A", "x"), To: ref("C", "x")}, Offer: OutOfScope}},
		{"back into the scope", offered, ref("B", "x"), ref("A", "y"), rules, nothing,
			RenameOutcome{Change: KeyChange{From: ref("A", "x"), To: ref("A", "y")}, Offer: OutOfScope}},
	} {
		by := KeyChange{From: c.from, To: c.to}
		if c.want.Change == (KeyChange{}) {
			c.want.Change = by
		}
		if got := c.hook.JudgeRename(by, c.here, c.there); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
)

// explain says of each rule what it made of the newest event, as an ADMIN reads
// it: its name, the outcome, and the filter that said no with both values.
func explain(t *testing.T, s *store.Store, key string) string {
	t.Helper()
	return explainTo(t, store.AsAdmin(t), s, key)
}

func explainTo(t *testing.T, ctx context.Context, s *store.Store, key string) string {
	t.Helper()
	x := explanationOf(t, ctx, s, key)
	var lines []string
	for _, v := range x.Rules {
		line := v.Name + " " + string(v.Outcome)
		if v.Outcome == notify.RuleRefused {
			line += fmt.Sprintf(" %s: %s, %s", v.Reason.Member, v.Reason.Wants, v.Reason.Has)
		}
		if (v.Delivery != nil) != (v.Outcome == notify.RuleTook) {
			t.Errorf("%s: delivery %v", line, v.Delivery)
		}
		lines = append(lines, line)
	}
	if x.Hidden > 0 {
		lines = append(lines, fmt.Sprintf("%d hidden, %d took it", x.Hidden, x.HiddenTook))
	}
	return strings.Join(lines, "; ")
}

func explanationOf(t *testing.T, ctx context.Context, s *store.Store, key string) notify.Explanation {
	t.Helper()
	log := admin.Events{Store: s}
	page, err := s.ListEvents(t.Context(), notify.EventFilter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Events {
		if e.Key != key {
			continue
		}
		x, err := log.Explain(ctx, e.ID, notify.VersionCursor{}, 100)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	t.Fatalf("no event %q", key)
	return notify.Explanation{}
}

// came takes an event whose key names it.
func came(t *testing.T, s *store.Store, key string, events ...notify.Event) {
	t.Helper()
	r := store.Webhook(key, events...)
	r.Key = key
	store.Accept(t, s, r)
}

// Every filter is named with what it wants and what the event has.
func TestExplainNamesTheFilter(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		for _, c := range []struct {
			want   string
			change func(*notify.Rule)
		}{
			{"taken", func(*notify.Rule) {}},
			{"refused eventTypes: TAG_CREATED, BRANCH_UPDATED", func(r *notify.Rule) { r.EventTypes = []notify.EventType{notify.TagCreated} }},
			{"refused branches: next, main", func(r *notify.Rule) { r.Branches = []string{"next"} }},
			{"refused branchMask: release/.*, main", func(r *notify.Rule) { r.BranchMask = "release/.*" }},
			{"refused projects: PAC, ATL/canoe", func(r *notify.Rule) { r.Projects = []string{"PAC"} }},
			{"refused repositories: ATL/hull, ATL/canoe", func(r *notify.Rule) {
				r.Repositories = []notify.RepositoryRef{{ProjectKey: "ATL", RepositoryKey: "hull"}}
			}},
			{"refused users: grace, ada", func(r *notify.Rule) { r.Users = []string{"grace"} }},
			{"refused ignoredUsers: not Ada, ada", func(r *notify.Rule) { r.IgnoredUsers = []string{"Ada"} }},
			{"disabled", func(r *notify.Rule) { r.Enabled = false }},
		} {
			r := store.SomeRule("the rule")
			c.change(&r)
			saved := store.Save(t, s, r, store.FlowURL("a"))
			came(t, s, c.want, *store.PushedTo("ATL", "canoe", "main", "ada"))
			if got := explain(t, s, c.want); got != "the rule "+c.want {
				t.Errorf("%q, want %q", got, "the rule "+c.want)
			}
			if err := s.DeleteRule(t.Context(), store.Ada, saved.ID, 0); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// What was so when the event came is what counts, whatever became of the rules.
func TestExplainKnowsTheRulesOfThen(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		came(t, s, "before", *store.PushedTo("ATL", "canoe", "main", "ada"))
		r := store.SomeRule("mine")
		r.ProjectKey, r.RepositoryKey, r.BranchMask = "ATL", "canoe", "release/.*"
		saved := store.Save(t, s, r, store.FlowURL("a"))
		came(t, s, "masked", *store.PushedTo("ATL", "canoe", "main", "ada"))
		edit := func(change func(*notify.Rule)) {
			t.Helper()
			r = saved.Rule
			r.Version = 0
			change(&r)
			saved = store.Save(t, s, r, "")
		}
		edit(func(r *notify.Rule) { r.Name, r.BranchMask = "mended", "main" })
		came(t, s, "mended", *store.PushedTo("ATL", "canoe", "main", "ada"))
		edit(func(r *notify.Rule) { r.Enabled = false })
		came(t, s, "off", *store.PushedTo("ATL", "canoe", "main", "ada"))
		edit(func(r *notify.Rule) { r.Enabled, r.Users = true, []string{"grace"} })
		came(t, s, "users", *store.PushedTo("ATL", "canoe", "main", "ada"))
		came(t, s, "renamed", *store.RepositoryRenamed("ATL", "canoe", "proa"))
		came(t, s, "at the new key", *store.PushedTo("ATL", "proa", "main", "ada"))
		came(t, s, "at the old key", *store.PushedTo("ATL", "canoe", "main", "ada"))
		if err := s.DeleteRule(t.Context(), store.Ada, saved.ID, 0); err != nil {
			t.Fatal(err)
		}
		came(t, s, "deleted", *store.PushedTo("ATL", "proa", "main", "ada"))
		for key, want := range map[string]string{
			"before":         "",
			"masked":         "mine refused branchMask: release/.*, main",
			"mended":         "mended taken",
			"off":            "mended disabled",
			"users":          "mended refused users: grace, ada",
			"renamed":        "mended refused eventTypes: BRANCH_UPDATED, REPOSITORY_FIELD_EDITED",
			"at the new key": "mended refused users: grace, ada",
			"at the old key": "",
			"deleted":        "",
		} {
			if got := explain(t, s, key); got != want {
				t.Errorf("%s: %q, want %q", key, got, want)
			}
		}
		if x := explanationOf(t, store.AsAdmin(t), s, "mended"); x.Rules[0].ChangedBy != "ada" || x.Rules[0].Changed.IsZero() || x.Rules[0].Version != 2 {
			t.Errorf("the rule as it was: %+v", x.Rules[0].RuleVersion)
		}
	})
}

func TestExplainTellsTheNarrowestLevelFirst(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		at := func(name, project, repository string) {
			r := store.SomeRule(name)
			r.ProjectKey, r.RepositoryKey = project, repository
			store.Save(t, s, r, store.FlowURL(name))
		}
		at("global", "", "")
		at("project", "ATL", "")
		at("repository", "ATL", "canoe")
		at("foreign", "PAC", "")
		at("beside", "ATL", "hull")
		came(t, s, "push", *store.PushedTo("atl", "Canoe", "main", "ada"))
		if got, want := explain(t, s, "push"), "repository taken; project taken; global taken"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		x := explanationOf(t, store.AsAdmin(t), s, "push")
		if x.Elsewhere != 2 || len(x.Deliveries) != 3 || x.Event.Rules != 3 {
			t.Errorf("%d rules elsewhere, %d deliveries, %d rules took it", x.Elsewhere, len(x.Deliveries), x.Event.Rules)
		}
		log := admin.Events{Store: s}
		var names []string
		var after notify.VersionCursor
		for {
			page, err := log.Explain(store.AsAdmin(t), x.Event.ID, after, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range page.Rules {
				names = append(names, v.Name)
			}
			if page.Next == nil {
				break
			}
			after = *page.Next
		}
		if got := fmt.Sprint(names); got != "[repository project global]" {
			t.Errorf("in pages: %s", got)
		}
	})
}

// Each sees the rules that they administer; of the others they learn how many
// there are.
func TestExplainShowsEachTheirOwnRules(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		for i, r := range []notify.Rule{{Name: "global"}, {Name: "project", ProjectKey: "ATL"}, {Name: "repository", ProjectKey: "ATL", RepositoryKey: "canoe"}} {
			full := store.SomeRule(r.Name)
			full.ProjectKey, full.RepositoryKey = r.ProjectKey, r.RepositoryKey
			if i == 1 {
				full.Branches = []string{"next"}
			}
			store.Save(t, s, full, store.FlowURL(r.Name))
		}
		came(t, s, "push", *store.PushedTo("ATL", "canoe", "main", "ada"))
		as := func(p identity.Permission, project, repository string) context.Context {
			return identity.With(t.Context(), &identity.Principal{Name: "x", Grants: []identity.Grant{{
				Permission: p, Resource: identity.Resource{Connection: "dc", Project: project, Repository: repository},
			}}})
		}
		const refused = "project refused branches: next, main"
		for want, ctx := range map[string]context.Context{
			"repository taken; " + refused + "; global taken":        as(identity.Admin, "", ""),
			"repository taken; " + refused + "; 1 hidden, 1 took it": as(identity.ProjectAdmin, "ATL", ""),
			"repository taken; 2 hidden, 1 took it":                  as(identity.RepoAdmin, "ATL", "canoe"),
		} {
			if got := explainTo(t, ctx, s, "push"); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		id := explanationOf(t, store.AsAdmin(t), s, "push").Event.ID
		log := admin.Events{Store: s}
		for _, ctx := range []context.Context{t.Context(), as(identity.RepoAdmin, "ATL", "hull"), as(identity.ProjectAdmin, "PAC", "")} {
			if _, err := log.Explain(ctx, id, notify.VersionCursor{}, 10); !fault.Is(err, fault.Forbidden) {
				t.Errorf("a stranger: %v", err)
			}
		}
	})
}

// Of a webhook about many refs each rule has the ones that it takes.
func TestExplainOfManyRefs(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		for name, mask := range map[string]string{"all": "", "some": "b-[0-4]", "none": "release/.*"} {
			r := store.SomeRule(name)
			r.BranchMask = mask
			store.Save(t, s, r, store.FlowURL(name))
		}
		var pushes []notify.Event
		for i := range notify.MaxRefs + 5 {
			e := *store.PushedTo("ATL", "canoe", fmt.Sprintf("b-%d", i), "ada")
			e.Ref = &notify.RefChange{Name: e.Branch}
			pushes = append(pushes, e)
		}
		came(t, s, "many", pushes...)
		page, err := s.ListEvents(t.Context(), notify.EventFilter{Limit: 10})
		if err != nil || len(page.Events) != 2 {
			t.Fatal(len(page.Events), err)
		}
		log := admin.Events{Store: s}
		got := make(map[string]string)
		for _, e := range page.Events {
			x, err := log.Explain(store.AsAdmin(t), e.ID, notify.VersionCursor{}, 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range x.Rules {
				got[fmt.Sprint(e.Event.Refs.Count, v.Name)] = string(v.Outcome)
			}
			if e.Event.Refs.Count == 5 {
				continue
			}
			for _, v := range x.Rules {
				if v.Name == "none" && (v.Reason.Member != "branchMask" || v.Reason.Wants != "release/.*" || !strings.HasPrefix(v.Reason.Has, "b-0, b-1")) {
					t.Errorf("reason %+v", v.Reason)
				}
			}
		}
		want := map[string]string{"25all": "taken", "25some": "other", "25none": "refused", "5all": "other", "5some": "taken", "5none": "refused"}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// An event under a key that a rename offered is kept, and nothing is delivered.
func TestExplainOfWhatIsWithheld(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		store.Save(t, s, store.SomeRule("global"), store.FlowURL("a"))
		h := store.HookOf(t, s, "one", "ATL", "canoe")
		r := store.CameBy(h, store.Webhook("moved", *store.RepositoryMoved(notify.RepositoryRef{ProjectKey: "ATL", RepositoryKey: "canoe"}, notify.RepositoryRef{ProjectKey: "PAC", RepositoryKey: "canoe"})))
		r.Key = "moved"
		store.Accept(t, s, r)
		push := store.CameBy(h, store.Webhook("push", *store.PushedTo("PAC", "canoe", "main", "ada")))
		push.Key = "push"
		store.Accept(t, s, push)
		if got := explain(t, s, "push"); got != "global withheld" {
			t.Errorf("%q", got)
		}
		x := explanationOf(t, store.AsAdmin(t), s, "push")
		if !x.Event.Withheld() || x.Event.Hook != "one" {
			t.Errorf("event %+v", x.Event)
		}
	})
}

// What held no event is explained by what became of the webhook.
func TestExplainOfNoEvent(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		store.FillLog(t, s)
		for _, key := range []string{"silent", "unknown", "garbled"} {
			if x := explanationOf(t, store.AsAdmin(t), s, key); len(x.Rules) != 0 || x.Event.Event != nil {
				t.Errorf("%s: %+v", key, x)
			}
		}
		if _, err := (&admin.Events{Store: s}).Explain(store.AsAdmin(t), 999, notify.VersionCursor{}, 10); !fault.Is(err, fault.Forbidden) {
			t.Errorf("an event that is not there, to an ADMIN: %v", err)
		}
		root := identity.With(t.Context(), &identity.Principal{Name: "root", Grants: []identity.Grant{{Permission: identity.SysAdmin}}})
		if _, err := (&admin.Events{Store: s}).Explain(root, 999, notify.VersionCursor{}, 10); !fault.Is(err, fault.NotFound) {
			t.Errorf("an event that is not there, to a SYS_ADMIN: %v", err)
		}
	})
}

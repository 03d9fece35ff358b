package store

import (
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

func repositoryRenamed(project, from, to string) *notify.Event {
	return &notify.Event{
		Types: []notify.EventType{notify.RepositoryFieldEdited}, Connection: "dc", Actor: notify.User{Name: "ada"},
		Project: notify.Project{Key: project}, Repository: notify.Repository{Key: to},
		Changes: []notify.Change{{Field: "slug", Old: from, New: to}},
	}
}

func TestRulesFollowARename(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := someRule("mine")
		r.ProjectKey, r.RepositoryKey = "ATL", "canoe"
		r.EventTypes = []notify.EventType{notify.BranchUpdated, notify.RepositoryFieldEdited}
		mine := save(t, s, r, flowURL("a"))
		narrowed := someRule("narrowed")
		narrowed.Repositories = []notify.RepositoryRef{{ProjectKey: "atl", RepositoryKey: "Canoe"}, {ProjectKey: "ATL", RepositoryKey: "hull"}}
		other := save(t, s, narrowed, flowURL("b"))

		accept(t, s, webhook("w1", *repositoryRenamed("ATL", "canoe", "proa")))
		if n := len(waiting(t, s)); n != 1 {
			t.Errorf("%d deliveries of the rename itself, want 1: the rule had the old key", n)
		}
		accept(t, s, webhook("w2", *pushedTo("ATL", "proa", "main", "ada")))
		if n := len(waiting(t, s)); n != 3 {
			t.Errorf("%d deliveries, want 3: both rules follow", n)
		}
		accept(t, s, webhook("w3", *pushedTo("ATL", "canoe", "main", "ada")))
		if n := len(waiting(t, s)); n != 3 {
			t.Errorf("%d deliveries, want 3: another repository may have the old name", n)
		}
		now, err := s.Rule(t.Context(), mine.ID)
		if err != nil || now.RepositoryKey != "proa" || now.Version != 2 || now.UpdatedBy != "dc" {
			t.Errorf("rule %+v, %v", now.Rule, err)
		}
		if now, err := s.Rule(t.Context(), other.ID); err != nil || now.Repositories[0] != (notify.RepositoryRef{ProjectKey: "ATL", RepositoryKey: "proa"}) || now.Repositories[1].RepositoryKey != "hull" {
			t.Errorf("narrowed %+v, %v", now.Repositories, err)
		}
		var audited int
		err = s.db.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT count(*) FROM audit_entries WHERE who = 'dc' AND action = 'update'`).Scan(&audited)
		})
		if err != nil || audited != 2 {
			t.Errorf("%d audited, want 2, %v", audited, err)
		}
	})
}

func TestRulesFollowAProject(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := someRule("repository")
		r.ProjectKey, r.RepositoryKey = "ATL", "canoe"
		save(t, s, r, flowURL("a"))
		r = someRule("project")
		r.ProjectKey = "atl"
		save(t, s, r, flowURL("b"))
		r = someRule("narrowed")
		r.Projects = []string{"ATL"}
		save(t, s, r, flowURL("c"))
		accept(t, s, webhook("w1", notify.Event{
			Types: []notify.EventType{notify.ProjectFieldEdited}, Connection: "dc", Project: notify.Project{Key: "PAC"},
			Changes: []notify.Change{{Field: "key", Old: "ATL", New: "PAC"}, {Field: "name", Old: "a", New: "b"}},
		}))
		accept(t, s, webhook("w2", *pushedTo("PAC", "canoe", "main", "ada")))
		if n := len(waiting(t, s)); n != 3 {
			t.Errorf("%d deliveries, want 3", n)
		}
	})
}

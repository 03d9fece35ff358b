package store

import (
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// hookOf makes a hook of a scope.
func hookOf(t *testing.T, s *Store, name, project, repository string) notify.Hook {
	t.Helper()
	h, err := s.CreateHook(t.Context(), ada, notify.Hook{Connection: "dc", Name: name, Scope: notify.Scope{ProjectKey: project, RepositoryKey: repository}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// cameBy has a webhook come in by a hook.
func cameBy(h notify.Hook, r *notify.Receipt) *notify.Receipt {
	r.Hook, r.HookID = h.Name, h.ID
	return r
}

func projectRenamed(from, to string) *notify.Event {
	return &notify.Event{
		Types: []notify.EventType{notify.ProjectFieldEdited}, Connection: "dc", Project: notify.Project{Key: to}, Changes: []notify.Change{{Field: "key", Old: from, New: to}},
	}
}

func repositoryMoved(from, to notify.RepositoryRef) *notify.Event {
	e := repositoryRenamed(to.ProjectKey, from.RepositoryKey, to.RepositoryKey)
	e.Changes = append(e.Changes, notify.Change{Field: "key", Old: from.ProjectKey, New: to.ProjectKey})
	return e
}

func ruleAt(t *testing.T, s *Store, name, project, repository string) notify.RuleInfo {
	t.Helper()
	r := someRule(name)
	r.ProjectKey, r.RepositoryKey = project, repository
	r.EventTypes = []notify.EventType{notify.BranchUpdated, notify.RepositoryFieldEdited, notify.ProjectFieldEdited}
	return save(t, s, r, flowURL(name))
}

// grantAt grants a user a permission.
func grantAt(t *testing.T, s *Store, project, repository string) {
	t.Helper()
	grantTo(t, s, "mallory", project, repository)
}

func grantTo(t *testing.T, s *Store, user, project, repository string) {
	t.Helper()
	users := identity.New(s.db, identity.Options{})
	_, err := users.CreateUser(t.Context(), user, secret.New("correct horse battery staple"))
	if err == nil {
		_, err = users.Grant(t.Context(), user, identity.RepoAdmin, identity.Resource{Connection: "dc", Project: project, Repository: repository})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func grants(t *testing.T, s *Store, project, repository string) (n int) {
	t.Helper()
	err := s.db.Read(t.Context(), func(tx *db.Tx) (err error) {
		n, err = identity.CountGrants(t.Context(), tx, identity.Resource{Connection: "dc", Project: project, Repository: repository}, time.Time{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func offered(t *testing.T, s *Store) []notify.Rename {
	t.Helper()
	list, err := s.OfferedRenames(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func wantWaiting(t *testing.T, s *Store, want int, why string) {
	t.Helper()
	if n := len(waiting(t, s)); n != want {
		t.Errorf("%d deliveries, want %d: %s", n, want, why)
	}
}

func wantKeys(t *testing.T, s *Store, rule notify.RuleInfo, project, repository string) {
	t.Helper()
	now, err := s.Rule(t.Context(), rule.ID)
	if err != nil || now.ProjectKey != project || now.RepositoryKey != repository {
		t.Errorf("the rule %s is at %s/%s, want %s/%s, %v", rule.Name, now.ProjectKey, now.RepositoryKey, project, repository, err)
	}
}

func TestAHookSpeaksOfItsScope(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, someRule("all"), flowURL("a"))
		repository, project := hookOf(t, s, "canoe", "ATL", "canoe"), hookOf(t, s, "atl", "atl", "")
		for _, c := range []struct {
			name       string
			by         notify.Hook
			event      *notify.Event
			want       fault.Code
			deliveries int
		}{
			{"its repository", repository, pushedTo("atl", "Canoe", "main", "ada"), "", 1},
			{"another of the project", repository, pushedTo("ATL", "hull", "main", "ada"), fault.Forbidden, 0},
			{"its project", project, pushedTo("ATL", "hull", "main", "ada"), "", 1},
			{"another project", project, pushedTo("PAC", "hull", "main", "ada"), fault.Forbidden, 0},
			{"nowhere", project, pushedTo("", "", "main", "ada"), fault.Forbidden, 0},
			{"all of its project", repository, projectRenamed("ATL", "ATL"), fault.Forbidden, 0},
			{"a repository that comes from elsewhere", project, repositoryMoved(notify.RepositoryRef{ProjectKey: "PAC", RepositoryKey: "x"}, notify.RepositoryRef{ProjectKey: "ATL", RepositoryKey: "x"}), "", 0},
			{"everything", notify.Hook{}, pushedTo("PAC", "hull", "main", "ada"), "", 1},
			{"a hook that is not there", notify.Hook{Name: "none"}, pushedTo("ATL", "canoe", "main", "ada"), fault.NotFound, 0},
			{"one that took the name of another", notify.Hook{ID: 99, Name: "canoe"}, pushedTo("ATL", "canoe", "main", "ada"), fault.NotFound, 0},
		} {
			before := len(waiting(t, s))
			err := s.Accept(t.Context(), cameBy(c.by, webhook(c.name, *c.event)))
			if c.want == "" && err != nil || c.want != "" && !fault.Is(err, c.want) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
			if n := len(waiting(t, s)) - before; n != c.deliveries {
				t.Errorf("%s: %d deliveries, want %d", c.name, n, c.deliveries)
			}
		}
		if err := s.Accept(t.Context(), cameBy(repository, webhook("two", *pushedTo("ATL", "canoe", "main", "ada"), *pushedTo("PAC", "x", "main", "ada")))); !fault.Is(err, fault.Forbidden) {
			t.Errorf("one event of two outside: %v", err)
		}
	})
}

// Another node deleted the hook after this one verified the webhook.
func TestADeletedHookIsGoneForWhatIsUnderWay(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		h := hookOf(t, s, "canoe", "ATL", "canoe")
		if err := newStore(t, s.db).DeleteHook(t.Context(), ada, "dc", "canoe"); err != nil {
			t.Fatal(err)
		}
		if known, _ := s.Platforms().Hook("dc", "canoe"); known == nil {
			t.Fatal("this node knows already, and the test shows nothing")
		}
		if err := s.Accept(t.Context(), cameBy(h, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v, want not found", err)
		}
		hookOf(t, s, "canoe", "ATL", "canoe") // of another's, with the same name
		if err := s.Accept(t.Context(), cameBy(h, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))); !fault.Is(err, fault.NotFound) {
			t.Errorf("by the hook that took the name: %v, want not found", err)
		}
	})
}

func TestRotation(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		first := hookOf(t, s, "canoe", "ATL", "canoe")
		rotated, err := s.RotateHook(t.Context(), ada, "dc", "canoe")
		if err != nil || rotated.Secret.Equal(first.Secret) {
			t.Fatalf("rotated to the same secret, %v", err)
		}
		h, _ := newStore(t, s.db).Platforms().Hook("dc", "canoe") // read back
		signs := func(key string, at time.Time) bool {
			for _, k := range h.Secrets(at) {
				if k.Reveal() == key {
					return true
				}
			}
			return false
		}
		now := time.Now()
		if !signs(rotated.Secret.Reveal(), now) || !signs(first.Secret.Reveal(), now.Add(notify.PreviousHolds-time.Minute)) ||
			signs(first.Secret.Reveal(), now.Add(notify.PreviousHolds+time.Minute)) {
			t.Error("the old secret is to hold for 7 days beside the new one")
		}
		if _, err := s.RotateHook(t.Context(), ada, "dc", ""); !fault.Is(err, fault.Conflict) {
			t.Errorf("rotating the file's secret: %v", err)
		}
		var sealed []byte
		err = s.db.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT secret FROM notify_hooks WHERE name = 'canoe'`).Scan(&sealed)
		})
		if err != nil || len(sealed) == 0 || string(sealed) == rotated.Secret.Reveal() {
			t.Errorf("the secret lies there as it is, %v", err)
		}
	})
}

func TestConnectionLife(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		c := notify.Connection{Name: "second", Kind: "bitbucket-dc", BaseURL: "https://code.example.com", User: "bot"}
		if _, _, err := s.CreateConnection(t.Context(), ada, c, nil); !fault.Is(err, fault.Invalid) {
			t.Errorf("a user without a token: %v", err)
		}
		c.User = ""
		made, key, err := s.CreateConnection(t.Context(), ada, c, nil)
		if err != nil || key.IsZero() || made.Version != 1 {
			t.Fatalf("made %+v, %v", made, err)
		}
		own, known := newStore(t, s.db).Platforms().Hook("second", "")
		if own == nil || known.BaseURL != c.BaseURL || known.Decode == nil || !own.Secret.Equal(key) {
			t.Errorf("read back %+v, %+v", own, known)
		}
		for _, name := range []string{"dc", "second"} {
			again := c
			again.Name = name
			if _, _, err := s.CreateConnection(t.Context(), ada, again, nil); !fault.Is(err, fault.Conflict) {
				t.Errorf("%s a second time: %v", name, err)
			}
		}
		c.BaseURL, c.Version = "https://other.example.com", 7
		if _, err := s.SaveConnection(t.Context(), ada, c, nil, nil); !fault.Is(err, fault.Conflict) {
			t.Errorf("another version: %v", err)
		}
		c.Version = 1
		if saved, err := s.SaveConnection(t.Context(), ada, c, nil, nil); err != nil || saved.Version != 2 {
			t.Errorf("saved %+v, %v", saved, err)
		}
		if err := s.DeleteConnection(t.Context(), ada, "dc", 0); !fault.Is(err, fault.Conflict) {
			t.Errorf("deleting one of the file: %v", err)
		}
		r := someRule("mine")
		r.Connection = "second"
		mine := save(t, s, r, flowURL("a"))
		if err := s.DeleteConnection(t.Context(), ada, "second", 0); !fault.Is(err, fault.Conflict) {
			t.Errorf("deleting one with rules: %v", err)
		}
		if err := s.DeleteRule(t.Context(), ada, mine.ID, 0); err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteConnection(t.Context(), ada, "second", 0); err != nil {
			t.Error(err)
		}
		if h, _ := s.Platforms().Hook("second", ""); h != nil {
			t.Error("its hook is still there")
		}
	})
}

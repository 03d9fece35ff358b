package store

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

var tracked1 = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// spoken is a webhook about pull request 3 of atlas/engine.
func spoken(id string, tracking notify.PullRequestUpdate, t notify.EventType, source string, minute int) *notify.Receipt {
	r := webhook(id, notify.Event{
		Types: []notify.EventType{t}, Connection: "dc", Key: "pullrequest:x", At: tracked1.Add(time.Duration(minute) * time.Minute), Update: tracking,
		Project: notify.Project{Key: "atlas"}, Repository: notify.Repository{Key: "engine"}, Branch: "main",
		PullRequest: &notify.PullRequest{ID: 3, Title: "T", Target: "main", SourceCommit: source},
	})
	r.Key = "pullrequest:x"
	return r
}

func pushSpoken(id, source string, minute int) *notify.Receipt {
	return spoken(id, notify.Pushed, notify.PullRequestRescoped, source, minute)
}

func updateSpoken(id, source string, minute int) *notify.Receipt {
	return spoken(id, notify.Updated, notify.PullRequestFieldEdited, source, minute)
}

// told are the types of what waits, oldest first.
func told(t *testing.T, s *Store) string {
	t.Helper()
	list := waiting(t, s)
	var all []string
	for i := len(list) - 1; i >= 0; i-- {
		d, _, err := s.Delivery(t.Context(), list[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		var types []string
		for _, x := range d.Event.Types {
			types = append(types, strings.TrimPrefix(x.String(), "PULL_REQUEST_"))
		}
		all = append(all, strings.Join(types, "+"))
	}
	return strings.Join(all, " ")
}

func ruleOf(types ...notify.EventType) notify.Rule {
	r := someRule("mine")
	r.EventTypes = types
	return r
}

// One push is told once, whichever of its two webhooks comes first, and a rule
// is asked about what happened, not about what the key says.
func TestTwoWebhooksOfAPush(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, ruleOf(notify.PullRequestRescoped, notify.PullRequestOpened), flowURL("a"))
		accept(t, s, spoken("w1", notify.Opened, notify.PullRequestOpened, "a1", 0))
		accept(t, s, updateSpoken("w2", "b2", 1))
		if r := accept(t, s, pushSpoken("w3", "b2", 1)); r.Outcome != notify.Silent || len(r.Kept) != 0 {
			t.Errorf("the other webhook of the push is %s", r.Outcome)
		}
		accept(t, s, pushSpoken("w4", "c3", 2))
		accept(t, s, updateSpoken("w5", "c3", 2))
		accept(t, s, updateSpoken("w6", "c3", 3)) // something else of it changed
		if got := told(t, s); got != "OPENED RESCOPED RESCOPED" {
			t.Errorf("told: %s", got)
		}
		if n := count(t, s, `SELECT count(*) FROM notify_events WHERE outcome = 'silent' AND reason = 'Another webhook reported the same push.'`); n != 2 {
			t.Errorf("%d webhooks are kept as no news, want 2", n)
		}
		if n := count(t, s, `SELECT count(*) FROM notify_pull_requests`); n != 1 {
			t.Errorf("%d pull requests are known", n)
		}
	})
}

// A redelivery changes nothing, also not what is known of the pull request.
func TestTrackedWebhookAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, ruleOf(notify.PullRequestRescoped, notify.PullRequestFieldEdited), flowURL("a"))
		timeless := func(id, source string) *notify.Receipt {
			r := pushSpoken(id, source, 0)
			r.Events[0].At = time.Time{} // nothing tells that it is older
			return r
		}
		accept(t, s, timeless("w1", "a1"))
		accept(t, s, timeless("w2", "b2"))
		if !accept(t, s, timeless("w1", "a1")).Duplicate {
			t.Error("a redelivery is news")
		}
		accept(t, s, updateSpoken("w3", "b2", 2))
		if got := told(t, s); got != "RESCOPED RESCOPED" {
			t.Errorf("told: %s", got)
		}
	})
}

// A hook that may not speak of a repository does not change what is known of its
// pull requests.
func TestTrackedOutOfScope(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, ruleOf(notify.PullRequestRescoped, notify.PullRequestFieldEdited), flowURL("a"))
		accept(t, s, pushSpoken("w1", "a1", 1))
		other := hookOf(t, s, "other", "atlas", "drum")
		if err := s.Accept(t.Context(), cameBy(other, pushSpoken("w2", "b2", 2))); err == nil {
			t.Error("a hook speaks of another repository")
		}
		accept(t, s, pushSpoken("w3", "b2", 2))
		if got := told(t, s); got != "RESCOPED RESCOPED" {
			t.Errorf("told: %s", got)
		}
	})
}

// Nodes that get the two webhooks of each push at once tell of it once.
func TestTwoWebhooksOnTwoNodes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := newStore(t, d)
		save(t, a, ruleOf(notify.PullRequestRescoped), flowURL("a"))
		nodes := []*Store{a, newStore(t, d)}
		accept(t, a, spoken("w0", notify.Touched, notify.PullRequestCommentAdded, "a0", 0))
		const pushes = 8
		for i := range pushes {
			source := string(rune('b'+i)) + "1"
			pair := []*notify.Receipt{pushSpoken("p"+source, source, i+1), updateSpoken("u"+source, source, i+1)}
			var together sync.WaitGroup
			for n, r := range pair {
				together.Go(func() {
					if err := nodes[n].Accept(t.Context(), r); err != nil {
						t.Error(err)
					}
				})
			}
			together.Wait()
		}
		if got := told(t, a); got != strings.TrimSpace(strings.Repeat("RESCOPED ", pushes)) {
			t.Errorf("told: %s", got)
		}
	}, secret.Migrations, audit.Migrations, identity.Migrations, Migrations)
}

func TestPullRequestsAreForgotten(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		accept(t, s, pushSpoken("w1", "a1", 1))
		forget := func(before time.Time) (n int64) {
			if err := s.db.Write(t.Context(), func(tx *db.Tx) (err error) {
				n, err = DeletePullRequests(t.Context(), tx, before, 10)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := forget(time.Now().Add(-time.Minute)); n != 0 {
			t.Errorf("%d are forgotten before their time", n)
		}
		if n := forget(time.Now().Add(time.Minute)); n != 1 {
			t.Errorf("%d are forgotten", n)
		}
	})
}

// What a hook says under a key that is not confirmed is kept, and tells
// nothing of the pull requests that are there.
func TestTrackedUnderAnOfferedKey(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		ruleAt(t, s, "mine", "atlas", "drum")
		own := hookOf(t, s, "own", "atlas", "drum")
		accept(t, s, cameBy(own, webhook("w1", *repositoryMoved(notify.RepositoryRef{ProjectKey: "atlas", RepositoryKey: "drum"}, notify.RepositoryRef{ProjectKey: "atlas", RepositoryKey: "engine"}))))
		if r := accept(t, s, cameBy(own, pushSpoken("w2", "b2", 2))); len(r.Kept) != 1 {
			t.Errorf("%d events are kept", len(r.Kept))
		}
		if n := count(t, s, `SELECT count(*) FROM notify_pull_requests`); n != 0 {
			t.Errorf("%d pull requests are known", n)
		}
	})
}

// What is known of pull requests goes by the new key of their repository or
// workspace: the next update is compared with it, also one that came with the
// rename in one commit.
func TestTrackedPullRequestsFollowARename(t *testing.T) {
	moved := map[string]func(*notify.Event){
		"a slug": func(e *notify.Event) {
			e.Changes, e.Repository.Key = []notify.Change{{Field: "slug", Old: "engine", New: "motor"}}, "motor"
		},
		"a workspace": func(e *notify.Event) {
			e.Changes, e.Project.Key = []notify.Change{{Field: "workspace", Old: "atlas", New: "pacific"}}, "pacific"
		},
	}
	for name, move := range moved {
		eachStore(t, func(t *testing.T, s *Store) {
			save(t, s, ruleOf(notify.PullRequestRescoped, notify.PullRequestFieldEdited), flowURL("a"))
			ruleAt(t, s, "there", "atlas", "engine")
			at := notify.Event{
				Types: []notify.EventType{notify.RepositoryFieldEdited}, Connection: "dc", Key: "repo:updated",
				Project: notify.Project{Key: "atlas"}, Repository: notify.Repository{Key: "engine"},
			}
			move(&at)
			there := func(r *notify.Receipt) *notify.Receipt {
				r.Events[0].Project, r.Events[0].Repository = at.Project, at.Repository
				return r
			}
			accept(t, s, spoken("w1", notify.Opened, notify.PullRequestOpened, "a1", 0))
			accept(t, s, there(pushSpoken("w2", "0f", -60))) // of an older repository with that name
			before := told(t, s)
			commitTogether(t, s, pushSpoken("w3", "b2", 1), webhook("w4", at))
			edited := there(updateSpoken("w5", "b2", 2))
			edited.Events[0].PullRequest.Title = "U"
			accept(t, s, edited)
			if got := strings.TrimPrefix(told(t, s), before); got != " RESCOPED REPOSITORY_FIELD_EDITED FIELD_EDITED" {
				t.Errorf("%s: told%s", name, got)
			}
			if n := count(t, s, `SELECT count(*) FROM notify_pull_requests`); n != 1 {
				t.Errorf("%s: %d pull requests are known", name, n)
			}
		})
	}
}

// commitTogether has webhooks accepted in one transaction.
func commitTogether(t *testing.T, s *Store, all ...*notify.Receipt) {
	t.Helper()
	if err := s.db.Write(t.Context(), func(tx *db.Tx) error {
		for _, r := range all {
			r.Match(s.Rules())
			if err := encode(r, new(bytes.Buffer)); err != nil {
				return err
			}
		}
		return s.writeReceipts(t.Context(), tx, all)
	}); err != nil {
		t.Fatal(err)
	}
}

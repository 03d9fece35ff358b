package store

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

const flow = "https://prod-1.westeurope.logic.azure.com/workflows/%s/triggers/manual/paths/invoke?api-version=1&sig=%s"

func flowURL(name string) string { return fmt.Sprintf(flow, name, "signature-of-"+name) }

// eachStore runs fn against a loaded store on both databases.
func eachStore(t *testing.T, fn func(t *testing.T, s *Store)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		fn(t, newStore(t, d))
	}, secret.Migrations, audit.Migrations, identity.Migrations, Migrations)
}

func newStore(t *testing.T, d *db.DB) *Store {
	t.Helper()
	box, err := secret.Open(t.Context(), d, bytes.Repeat([]byte{7}, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := New(d, box, slog.New(slog.DiscardHandler))
	s.UsePlatforms(notify.Connections{{Name: "dc", Kind: "bitbucket-dc"}}, decoders)
	if err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

var decoders = map[string]notify.Decoder{"bitbucket-dc": func(key string, _ []byte, _ string) (string, []notify.Event, error) { return key, nil, nil }}

func TestSchemasAgree(t *testing.T) {
	dbtest.SameSchema(t, secret.Migrations, audit.Migrations, identity.Migrations, Migrations)
}

var ada = notify.Actor{Name: "ada", Source: "local", Address: "192.0.2.1", RequestID: "r1"}

func someRule(name string) notify.Rule {
	return notify.Rule{Name: name, Connection: "dc", Format: notify.Auto, Enabled: true, Filter: notify.Filter{EventTypes: []notify.EventType{notify.BranchUpdated}}}
}

func save(t *testing.T, s *Store, r notify.Rule, url string) notify.RuleInfo {
	t.Helper()
	info, err := s.SaveRule(t.Context(), ada, r, url)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func webhook(id string, events ...notify.Event) *notify.Receipt {
	r := &notify.Receipt{Connection: "dc", Key: "repo:refs_changed", RequestID: id, ReceivedAt: time.Now(), Outcome: notify.Understood, Digest: []byte(id)}
	r.Events = append(r.Events, events...)
	return r
}

func accept(t *testing.T, s *Store, r *notify.Receipt) *notify.Receipt {
	t.Helper()
	if err := s.Accept(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r
}

func waiting(t *testing.T, s *Store) []*notify.Delivery {
	t.Helper()
	list, err := s.ListDeliveries(t.Context(), notify.DeliveryFilter{State: notify.Waiting, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRuleIsReadBackMasked(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		info := save(t, s, someRule("builds"), flowURL("a"))
		if strings.Contains(fmt.Sprintf("%+v", info), "signature-of") {
			t.Errorf("the signature is in what is read back: %+v", info)
		}
		if info.Version != 1 || info.CreatedBy != "ada" || info.Channel.Host != "prod-1.westeurope.logic.azure.com" {
			t.Errorf("read back %+v", info)
		}
		_, url, err := s.Channel(t.Context(), info.ChannelID)
		if err != nil || url.Reveal() != flowURL("a") {
			t.Errorf("the URL is not what was saved: %v", err)
		}
	})
}

func TestSavingKeepsOrChangesTheURL(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		first := save(t, s, someRule("builds"), flowURL("a"))
		other := save(t, s, someRule("other"), "https://prod-2.westeurope.logic.azure.com/x/invoke?sig=1")
		edit := first.Rule
		edit.Name = "builds, renamed"
		kept := save(t, s, edit, "")
		if kept.ChannelID != first.ChannelID || kept.Version != 2 || kept.Name != "builds, renamed" {
			t.Errorf("saved without a URL: %+v", kept)
		}
		edit.Version = 0
		if masked := save(t, s, edit, first.Channel.Mask); masked.ChannelID != first.ChannelID {
			t.Error("the rule's own mask did not keep the URL")
		}
		if _, err := s.SaveRule(t.Context(), ada, edit, other.Channel.Mask); !fault.Is(err, fault.Invalid) {
			t.Errorf("another rule's mask: %v, want invalid", err)
		}
		if _, err := s.SaveRule(t.Context(), ada, someRule("new"), first.Channel.Mask); !fault.Is(err, fault.Invalid) {
			t.Errorf("a mask on a new rule: %v, want invalid", err)
		}
		if moved := save(t, s, edit, flowURL("b")); moved.ChannelID == first.ChannelID {
			t.Error("a new URL is not a new channel")
		}
	})
}

func TestStaleVersionIsAConflict(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		info := save(t, s, someRule("builds"), flowURL("a"))
		edit := info.Rule
		edit.Branches = []string{"main"}
		save(t, s, edit, "")
		_, err := s.SaveRule(t.Context(), notify.Actor{Name: "grace"}, edit, "")
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "version 2: ada changed branches at ") {
			t.Errorf("got %v", err)
		}
		edit.Version, edit.Branches = 0, []string{"dev"}
		if got := save(t, s, edit, ""); got.Version != 3 {
			t.Errorf("version %d, want 3", got.Version)
		}
		edit.ProjectKey = "ATL"
		if _, err := s.SaveRule(t.Context(), ada, edit, ""); !fault.Is(err, fault.Invalid) {
			t.Errorf("changing a fixed key: %v", err)
		}
	})
}

func TestEventBecomesOneDeliveryAChannel(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one := save(t, s, someRule("one"), flowURL("a"))
		two := save(t, s, someRule("two"), flowURL("a"))
		save(t, s, someRule("three"), flowURL("b"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada"), *pushedTo("ATL", "canoe", "next", "ada")))
		list := waiting(t, s)
		if len(list) != 4 {
			t.Fatalf("%d deliveries of 2 events on 2 channels, want 4", len(list))
		}
		for _, d := range list {
			if d.ChannelID == one.ChannelID && fmt.Sprint(d.Rules) != fmt.Sprint([]int64{one.ID, two.ID}) {
				t.Errorf("rules of a shared channel: %v", d.Rules)
			}
			if d.Format != notify.Teams || d.Event == nil || d.Event.Actor.Name != "ada" {
				t.Errorf("read back %+v", d)
			}
		}
		byRule, err := s.ListDeliveries(t.Context(), notify.DeliveryFilter{RuleID: two.ID, Limit: 10})
		if err != nil || len(byRule) != 2 {
			t.Errorf("%d deliveries of rule two, %v", len(byRule), err)
		}
	})
}

func TestRuleHoldsForEveryEventAfterItsSave(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		accept(t, s, webhook("before", *pushedTo("ATL", "canoe", "main", "ada")))
		info := save(t, s, someRule("one"), flowURL("a"))
		accept(t, s, webhook("after", *pushedTo("ATL", "canoe", "main", "ada")))
		if n := len(waiting(t, s)); n != 1 {
			t.Errorf("%d deliveries, want 1", n)
		}
		if err := s.DeleteRule(t.Context(), ada, info.ID, 0); err != nil {
			t.Fatal(err)
		}
		accept(t, s, webhook("deleted", *pushedTo("ATL", "canoe", "main", "ada")))
		if list, err := s.ListDeliveries(t.Context(), notify.DeliveryFilter{Limit: 10}); err != nil || len(list) != 1 {
			t.Errorf("%d deliveries after the rule was deleted, want 1: %v", len(list), err)
		}
	})
}

func TestTwiceIsOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, someRule("one"), flowURL("a"))
		push := *pushedTo("ATL", "canoe", "main", "ada")
		first := accept(t, s, webhook("w1", push))
		again := accept(t, s, webhook("w1", push))
		sameBody := webhook("w2", push)
		sameBody.Digest = []byte("w1")
		accept(t, s, sameBody)
		otherKey := webhook("w3", push)
		otherKey.Key, otherKey.Digest = "pr:opened", []byte("w1")
		accept(t, s, otherKey)
		noID := webhook("", push)
		noID.Digest = []byte("no id")
		accept(t, s, noID)
		if first.Duplicate || !again.Duplicate || !sameBody.Duplicate || otherKey.Duplicate || noID.Duplicate {
			t.Errorf("duplicates: %v %v %v %v %v", first.Duplicate, again.Duplicate, sameBody.Duplicate, otherKey.Duplicate, noID.Duplicate)
		}
		late := webhook("w4", push)
		late.Digest, late.ReceivedAt = []byte("w1"), time.Now().Add(notify.SameBodyWithin+time.Second)
		if accept(t, s, late); late.Duplicate {
			t.Error("the same body after more than 10 minutes counts as the same")
		}
		late = webhook("w4", push)
		late.Digest, late.ReceivedAt = []byte("w1"), time.Now().Add(3*notify.SameBodyWithin)
		if accept(t, s, late); !late.Duplicate {
			t.Error("the same request id and body after more than 10 minutes count as new")
		}
		if n := len(waiting(t, s)); n != 4 {
			t.Errorf("%d deliveries, want 4", n)
		}
	})
}

func TestConcurrentDuplicatesAreOne(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, someRule("one"), flowURL("a"))
		var wait sync.WaitGroup
		receipts := make([]*notify.Receipt, 40)
		for i := range receipts {
			receipts[i] = webhook(fmt.Sprintf("w%d", i%4), *pushedTo("ATL", "canoe", "main", "ada"))
			wait.Go(func() {
				if err := s.Accept(context.Background(), receipts[i]); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		fresh := 0
		for _, r := range receipts {
			if !r.Duplicate {
				fresh++
			}
		}
		if n := len(waiting(t, s)); fresh != 4 || n != 4 {
			t.Errorf("%d new webhooks and %d deliveries, want 4 and 4", fresh, n)
		}
	})
}

func TestChangedURLTakesWhatWaits(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		mine := save(t, s, someRule("mine"), flowURL("a"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada"))) // for mine alone
		shared := save(t, s, someRule("shared"), flowURL("a"))
		accept(t, s, webhook("w2", *pushedTo("ATL", "canoe", "main", "ada"))) // for both
		edit := mine.Rule
		moved := save(t, s, edit, flowURL("b"))
		there, err := s.NextDeliveries(t.Context(), moved.ChannelID, 10)
		if err != nil || len(there) != 2 {
			t.Errorf("%d on the new channel, want that of the rule alone and its own of the shared one: %v", len(there), err)
		}
		here, err := s.NextDeliveries(t.Context(), shared.ChannelID, 10)
		if err != nil || len(here) != 1 {
			t.Errorf("%d on the old channel, want 1: %v", len(here), err)
		}
	})
}

func TestNotUnderstoodIsKeptWithItsBody(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := &notify.Receipt{Connection: "dc", Key: "pr:opened", RequestID: "w1", ReceivedAt: time.Now(), Outcome: notify.Unreadable, Reason: "no pull request", Body: []byte(`{"a":1}`)}
		accept(t, s, r)
		sum, err := s.Summary(t.Context(), time.Now().Add(-time.Hour))
		if err != nil || sum.NotUnderstood != 1 {
			t.Errorf("summary %+v, %v", sum, err)
		}
		var body []byte
		err = s.db.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT body FROM notify_events`).Scan(&body)
		})
		if err != nil || string(body) != `{"a":1}` {
			t.Errorf("body %q, %v", body, err)
		}
	})
}

func TestUnusedURLIsForgotten(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one, two := save(t, s, someRule("one"), flowURL("a")), save(t, s, someRule("two"), flowURL("a"))
		holds := func(want bool) {
			t.Helper()
			_, url, err := s.Channel(t.Context(), one.ChannelID)
			if err != nil || url.IsZero() == want {
				t.Errorf("URL held: %v, want %v, %v", !url.IsZero(), want, err)
			}
		}
		if err := s.DeleteRule(t.Context(), ada, one.ID, 0); err != nil {
			t.Fatal(err)
		}
		holds(true)
		moved := save(t, s, two.Rule, flowURL("b"))
		holds(false)
		save(t, s, moved.Rule, flowURL("a"))
		holds(true)
	})
}

func pushedTo(project, repository, branch, user string) *notify.Event {
	return &notify.Event{
		Types: []notify.EventType{notify.BranchUpdated}, Connection: "dc", Branch: branch,
		Project: notify.Project{Key: project}, Repository: notify.Repository{Key: repository}, Actor: notify.User{Name: user},
	}
}

package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

// A test message that the chat takes opens a broken channel, and the one who sends it
// says which of the waiting messages go out; one that it refuses changes nothing, nor
// does one to a channel that is not broken.
func TestATestThatTheChatTakesOpensABrokenChannel(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		status := 202
		tests := &admin.TestMessages{
			Store: s, Write: func([]notify.EventType, notify.Format) []byte { return nil },
			Post: func(context.Context, secret.Value, []byte) *work.Attempt { return &work.Attempt{Status: status} },
		}
		channels := &admin.Channels{Store: s, Tests: tests, Clock: time.Now}
		rules := &admin.Rules{Store: s, Tests: tests, CheckURL: func(string) error { return nil }}
		users := 0
		asRoot := func() context.Context { // another one each time: tests of one are limited
			users++
			return identity.With(t.Context(), &identity.Principal{Name: fmt.Sprint("user", users), Source: identity.Local, Grants: []identity.Grant{{Permission: identity.SysAdmin}}})
		}
		var made []notify.RuleInfo
		for i := range 5 {
			made = append(made, store.Save(t, s, store.SomeRule(fmt.Sprint("rule ", i)), store.FlowURL(fmt.Sprint("c", i))))
		}
		for i := range 20 { // each takes all five rules
			store.Accept(t, s, store.Webhook(fmt.Sprint("event", i), *store.PushedTo("ATL", "canoe", "main", "ada")))
		}
		breakIt := func(r *notify.RuleInfo) {
			c := r.Channel
			c.State, c.Reason, c.BrokenAt, c.Refused = notify.Broken, "HTTP 404", time.Now(), 3
			c.GateReason, c.FailingSince, c.GateUntil = "HTTP 404", time.Now(), time.Now().Add(time.Hour)
			if err := s.DB().Write(t.Context(), func(tx *db.Tx) error { return store.UpdateChannel(t.Context(), tx, &c) }); err != nil {
				t.Fatal(err)
			}
		}
		now := func(r *notify.RuleInfo) notify.ChannelInfo {
			c, err := s.ChannelOf(t.Context(), r.Channel.Fingerprint)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		for i := range made {
			breakIt(&made[i])
		}
		status = 404
		if done, err := channels.Test(asRoot(), made[0].Channel.Fingerprint, ""); err != nil || done.Opened != nil || now(&made[0]).State != notify.Broken {
			t.Errorf("a test that is refused: %+v, %v", done, err)
		}
		status = 200
		for i, c := range []struct {
			which              notify.RetryMode
			waiting, cancelled int
		}{{notify.RetryAll, 20, 0}, {notify.RetryRecent, 20, 0}, {notify.RetryNone, 0, 20}, {"", 20, 0}} {
			done, err := channels.Test(asRoot(), made[i].Channel.Fingerprint, c.which)
			if err != nil || done.Opened == nil || *done.Opened != (notify.Reopened{Waiting: c.waiting, Cancelled: c.cancelled}) {
				t.Errorf("%q: %+v, %v", c.which, done, err)
			}
			got := now(&made[i])
			if got.Status(time.Now()).State != "open" || got.Waiting != c.waiting || got.LastOKAt.IsZero() || !got.FailingSince.IsZero() || !got.GateUntil.IsZero() {
				t.Errorf("%q left %+v", c.which, got)
			}
		}
		if now(&made[4]).State != notify.Broken {
			t.Error("another channel was opened")
		}
		if _, err := channels.Test(asRoot(), made[4].Channel.Fingerprint, "some"); err == nil {
			t.Error("an unknown choice is taken")
		}
		// Of a rule, by two people at once: it is opened once, and loses nothing.
		var both sync.WaitGroup
		var opened [2]*admin.Tested
		for i := range opened {
			who := asRoot()
			both.Go(func() { opened[i], _ = rules.Test(who, notify.Rule{ID: made[4].ID, Format: notify.Auto}, "", nil) })
		}
		both.Wait()
		if opened[0] == nil || opened[1] == nil || opened[0].Opened == nil && opened[1].Opened == nil || now(&made[4]).State != notify.Open || now(&made[4]).Waiting != 20 {
			t.Errorf("two tests of a rule: %+v, %+v, %+v", opened[0], opened[1], now(&made[4]))
		}
		if done, err := channels.Test(asRoot(), made[4].Channel.Fingerprint, notify.RetryNone); err != nil || done.Opened != nil || now(&made[4]).Waiting != 20 {
			t.Errorf("a test of an open channel: %+v, %v", done, err)
		}
	})
}

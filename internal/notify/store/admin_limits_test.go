package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

// A script that tries a channel again and again is not one that skips every pause
// that the chat platform asks for.
func TestAChannelIsTriedAgainSoOften(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		now := time.Now()
		channels := &admin.Channels{Store: s, Clock: func() time.Time { return now }}
		admin := store.As(t, identity.Grant{Permission: identity.Admin})
		one, two := store.Save(t, s, store.SomeRule("one"), store.FlowURL("a")), store.Save(t, s, store.SomeRule("two"), store.FlowURL("b"))
		retry := func(r notify.RuleInfo) error {
			_, err := channels.Retry(admin, r.Channel.Fingerprint, notify.RetryAll)
			return err
		}
		tried := 0
		for range 20 {
			if err := retry(one); err == nil {
				tried++
			} else if !fault.Is(err, fault.RateLimited) || fault.As(err).RetryAfter <= 0 {
				t.Fatal(err)
			}
		}
		if tried != 12 {
			t.Errorf("%d of 20 tries at once went through, want 12", tried)
		}
		if err := retry(two); err != nil {
			t.Errorf("another channel: %v", err)
		}
		now = now.Add(10 * time.Second)
		if err := retry(one); err != nil {
			t.Errorf("10 s later: %v", err)
		}
	})
}

// Many users, or one script with the tokens of many, send one channel no more test
// messages than two people would.
func TestTestMessagesOfAChannelAreLimited(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		posted := 0
		tests := &admin.TestMessages{
			Store: s, Write: func([]notify.EventType, notify.Format) []byte { return nil },
			Post: func(context.Context, secret.Value, []byte) *work.Attempt {
				posted++
				return &work.Attempt{Status: 202}
			},
		}
		channels := &admin.Channels{Store: s, Tests: tests, Clock: time.Now}
		one, two := store.Save(t, s, store.SomeRule("one"), store.FlowURL("a")), store.Save(t, s, store.SomeRule("two"), store.FlowURL("b"))
		test := func(user string, r notify.RuleInfo) error {
			who := &identity.Principal{Name: user, Source: identity.Local, Grants: []identity.Grant{{Permission: identity.Admin}}}
			_, err := channels.Test(identity.With(t.Context(), who), r.Channel.Fingerprint, "")
			return err
		}
		for i := range 40 {
			if err := test(fmt.Sprint("user", i), one); err != nil && !fault.Is(err, fault.RateLimited) {
				t.Fatal(err)
			}
		}
		if posted < 20 || posted > 25 { // an allowance comes back every 3 s
			t.Errorf("%d of 40 test messages were sent, want about 20", posted)
		}
		if err := test("user0", two); err != nil {
			t.Errorf("another channel: %v", err)
		}
	})
}

package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

// Who administers one repository cannot fill the memory of every node with hooks.
func TestHooksOfAScopeAreLimited(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		for i := range maxHooks {
			hookOf(t, s, fmt.Sprint("h", i), "ATL", "canoe")
		}
		one := notify.Hook{Connection: "dc", Name: "more", Scope: notify.Scope{ProjectKey: "atl", RepositoryKey: "CANOE"}}
		if _, err := s.CreateHook(t.Context(), ada, one); !fault.Is(err, fault.Conflict) {
			t.Errorf("one more than %d: %v", maxHooks, err)
		}
		hookOf(t, s, "of-another", "ATL", "kayak")
		hookOf(t, s, "of-the-project", "ATL", "")
		if err := s.DeleteHook(t.Context(), ada, "dc", "h0"); err != nil {
			t.Fatal(err)
		}
		hookOf(t, s, "again", "ATL", "canoe")
	})
}

// A script that tries a channel again and again is not one that skips every pause
// that the chat platform asks for.
func TestAChannelIsTriedAgainSoOften(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		now := time.Now()
		channels := &notify.Channels{Store: s, Clock: func() time.Time { return now }}
		admin := as(t, identity.Grant{Permission: identity.Admin})
		one, two := save(t, s, someRule("one"), flowURL("a")), save(t, s, someRule("two"), flowURL("b"))
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
	eachStore(t, func(t *testing.T, s *Store) {
		posted := 0
		tests := &notify.TestMessages{
			Store: s, Write: func([]notify.EventType, notify.Format) []byte { return nil },
			Post: func(context.Context, secret.Value, []byte) *work.Attempt {
				posted++
				return &work.Attempt{Status: 202}
			},
		}
		channels := &notify.Channels{Store: s, Tests: tests, Clock: time.Now}
		one, two := save(t, s, someRule("one"), flowURL("a")), save(t, s, someRule("two"), flowURL("b"))
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

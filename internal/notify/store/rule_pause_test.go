package store

import (
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

func pause(t *testing.T, s *Store, authorization int64, paused bool) {
	t.Helper()
	err := s.db.Write(t.Context(), func(tx *db.Tx) error {
		return s.pauseRules(t.Context(), tx, notify.Actor{Name: "grace"}, authorization, paused)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The rules of an account that was revoked take nothing until it is given again;
// they stay enabled, and are known as they were at every moment.
func TestRulesOfARevokedAccountArePaused(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		theirs, others := someRule("theirs"), someRule("others")
		theirs.AuthorizationID, others.AuthorizationID = 7, 8
		mine := save(t, s, theirs, flowURL("a")).Rule
		save(t, s, others, flowURL("b"))
		save(t, s, someRule("of no account"), flowURL("c"))
		moments := []int64{s.Rules().Generation}
		taken := func(id string) string {
			var names []string
			for _, d := range accept(t, s, webhook(id, *pushedTo("ATL", "canoe", "main", "ada"))).Deliveries {
				for _, rule := range d.Rules {
					names = append(names, s.Rules().Rule(rule).Name)
				}
			}
			return strings.Join(names, ", ")
		}
		if got := taken("w1"); got != "theirs, others, of no account" {
			t.Errorf("before: %s", got)
		}
		pause(t, s, 7, true)
		moments = append(moments, s.Rules().Generation)
		if got := taken("w2"); got != "others, of no account" {
			t.Errorf("revoked: %s", got)
		}
		if info, err := s.Rule(t.Context(), mine.ID); err != nil || !info.Enabled || !info.Paused || info.Version != mine.Version {
			t.Errorf("the rule is now %+v, %v", info.Rule, err)
		}
		pause(t, s, 7, true) // once more changes nothing
		if s.Rules().Generation != moments[1] {
			t.Error("pausing what is paused counts the generation")
		}
		pause(t, s, 7, false)
		if got := taken("w3"); got != "theirs, others, of no account" {
			t.Errorf("given again: %s", got)
		}
		for i, paused := range []bool{false, true} {
			list, err := s.RulesAt(t.Context(), notify.VersionQuery{Generation: moments[i], Connection: "dc", Places: []notify.Scope{{}}, Limit: 1})
			if err != nil || len(list) != 1 || list[0].Paused != paused || list[0].ChangedBy != "grace" || list[0].AuthorizationID != 7 {
				t.Errorf("moment %d: %+v, %v", i, list, err)
			}
		}
	})
}

// A save by another account is that account's, and takes events again. Who has
// read the rule before it was paused has missed no save.
func TestAPausedRuleIsSaved(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := someRule("one")
		r.AuthorizationID = 7
		r = save(t, s, r, flowURL("a")).Rule
		pause(t, s, 7, true)
		r.AuthorizationID, r.Name = 8, "two"
		saved := save(t, s, r, "")
		if saved.Paused || saved.AuthorizationID != 8 || saved.Version != r.Version+1 {
			t.Errorf("saved as %+v", saved.Rule)
		}
		_, err := s.SaveRule(t.Context(), ada, r, "")
		if err == nil || strings.Count(err.Error(), "changed") != 2 || !strings.Contains(err.Error(), "ada changed name at") {
			t.Errorf("a save of what was read before: %v", err)
		}
	})
}

// An account that is revoked while a rule is being saved with it saves no rule;
// one that is withdrawn or revoked is to be authorised again.
func TestARuleShowsItsAccount(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		account, err := s.SaveAuthorization(t.Context(), ada, notify.Authorization{Connection: "dc", AccountID: "712020:ana", AccountName: "Ana"}, notify.AccountTokens{Count: 1})
		if err != nil {
			t.Fatal(err)
		}
		r := someRule("one")
		r.AuthorizationID = account.ID
		r = save(t, s, r, flowURL("a")).Rule
		expect := func(state notify.AuthorizationState, required bool) {
			t.Helper()
			info, err := s.Rule(t.Context(), r.ID)
			if err != nil || info.Account != (notify.RuleAccount{Name: "Ana", State: state}) || info.AuthorizationRequired() != required {
				t.Errorf("account %+v, %v; want %s", info.Account, err, state)
			}
		}
		expect(notify.AuthorizationActive, false)
		if ok, err := s.WithdrawAuthorization(t.Context(), account.ID, 1, "gone", time.Now()); !ok || err != nil {
			t.Fatal(ok, err)
		}
		expect(notify.AuthorizationWithdrawn, true)
		if err := s.RevokeAuthorization(t.Context(), ada, account.ID); err != nil {
			t.Fatal(err)
		}
		expect(notify.AuthorizationRevoked, true)
		r.Name = "two"
		if _, err := s.SaveRule(t.Context(), ada, r, ""); !fault.Is(err, fault.Forbidden) {
			t.Errorf("a save with a revoked account: %v", err)
		}
	})
}

// A rule that is switched on belongs to the account that it is switched on with,
// as at a save; not to one that was revoked.
func TestAPausedRuleIsSwitchedOn(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		tokens := notify.AccountTokens{Access: secret.New("a"), Refresh: secret.New("r"), Expires: noon.Add(time.Hour)}
		var accounts []int64
		for _, id := range []string{"{ana}", "{ben}"} {
			a, err := s.SaveAuthorization(t.Context(), ada, notify.Authorization{Connection: "cloud", AccountID: id, AccountName: id, RefreshedAt: noon, DueAt: noon}, tokens)
			if err != nil {
				t.Fatal(err)
			}
			accounts = append(accounts, a.ID)
		}
		r := someRule("one")
		r.AuthorizationID = accounts[0]
		r = save(t, s, r, flowURL("a")).Rule
		if err := s.RevokeAuthorization(t.Context(), ada, accounts[0]); err != nil {
			t.Fatal(err)
		}
		off, err := s.EnableRule(t.Context(), ada, r.ID, 0, false, accounts[0]) // this needs none
		if err != nil || off.Enabled || !off.Paused || off.AuthorizationID != accounts[0] {
			t.Errorf("switched off: %+v, %v", off.Rule, err)
		}
		if _, err := s.EnableRule(t.Context(), ada, r.ID, 0, true, accounts[0]); !fault.Is(err, fault.Forbidden) {
			t.Errorf("with a revoked account: %v", err)
		}
		on, err := s.EnableRule(t.Context(), ada, r.ID, 0, true, accounts[1])
		if err != nil || !on.Enabled || on.Paused || on.AuthorizationID != accounts[1] {
			t.Errorf("switched on: %+v, %v", on.Rule, err)
		}
	})
}

// A rule that is being saved with an account while that is revoked is paused as
// those saved before; it is not left taking events for good.
func TestARuleSavedWhileItsAccountIsRevokedIsPaused(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		if s.db.Dialect() == db.SQLite {
			return // has one writer
		}
		a, err := s.SaveAuthorization(t.Context(), ada, notify.Authorization{Connection: "dc", AccountID: "{ana}", AccountName: "Ana"}, notify.AccountTokens{Count: 1})
		if err != nil {
			t.Fatal(err)
		}
		r := someRule("one")
		r.AuthorizationID = a.ID
		begun, commit, saved := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			saved <- s.db.Write(t.Context(), func(tx *db.Tx) error {
				if err := s.beginRulesChange(t.Context(), tx); err != nil {
					return err
				}
				if err := s.saveRule(t.Context(), tx, ada, &r, nil, flowURL("a")); err != nil {
					return err
				}
				close(begun)
				<-commit
				return nil
			})
		}()
		<-begun
		revoked := make(chan error, 1)
		go func() { revoked <- s.RevokeAuthorization(t.Context(), ada, a.ID) }()
		for len(revoked) == 0 && !waitsForLock(t, s) {
		}
		close(commit)
		if err := <-saved; err != nil {
			t.Fatal(err)
		}
		if err := <-revoked; err != nil {
			t.Fatal(err)
		}
		if info, err := s.Rule(t.Context(), r.ID); err != nil || !info.Paused {
			t.Errorf("the rule is %+v, %v", info.Rule, err)
		}
	})
}

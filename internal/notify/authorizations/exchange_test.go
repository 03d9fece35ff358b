package authorizations

import (
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

// A user authorises an account: the platform is asked with a state and an S256
// challenge, and what comes back is the account with its tokens.
func TestAuthorise(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		location, err := n.api.Begin(n.as(1), "cloud", "/notifications/cloud")
		if err != nil {
			t.Fatal(err)
		}
		q := queryOf(t, location)
		if len(q.Get("state")) < 43 || len(q.Get("code_challenge")) != 43 || q.Get("code_challenge_method") != "S256" || q.Get("redirect_uri") != base+"/oauth/cloud" {
			t.Errorf("%v", q)
		}
		answer, _ := n.Grant(location, ana)
		page, a, err := n.api.Complete(n.as(1), "cloud", admin.ReadCallback(answer))
		if err != nil || page != "/notifications/cloud" || a.AccountName != "Ana" || a.AccountID != "{ana}" || a.UserID != 1 || a.State != notify.AuthorizationActive || a.BaseURL != n.url {
			t.Errorf("%s, %+v, %v", page, a, err)
		}
		if !a.Expires.Equal(n.clock().Add(2*time.Hour)) || !a.DueAt.Equal(n.clock().Add(90*time.Minute)) {
			t.Errorf("expires %s, due %s", a.Expires, a.DueAt)
		}
		if err := n.works(a.ID); err != nil {
			t.Error(err)
		}
		if list, err := n.api.List(n.as(2), 0, 10); err != nil || len(list) != 0 {
			t.Errorf("another user sees %+v, %v", list, err)
		}
		if _, err := n.api.Get(n.as(2), a.ID); !fault.Is(err, fault.Forbidden) {
			t.Errorf("another user gets: %v", err)
		}
		if err := n.api.Revoke(n.as(2), a.ID); !fault.Is(err, fault.Forbidden) {
			t.Errorf("another user revokes: %v", err)
		}
		admin := identity.With(t.Context(), &identity.Principal{UserID: 9, Grants: []identity.Grant{{Permission: identity.Admin}}})
		if list, err := n.api.List(admin, 0, 10); err != nil || len(list) != 1 {
			t.Errorf("an ADMIN sees %+v, %v", list, err)
		}
		if err := n.api.Revoke(admin, a.ID); err != nil {
			t.Error(err)
		}
		if err := n.works(a.ID); !fault.Is(err, fault.Conflict) {
			t.Errorf("revoked: %v", err)
		}
	})
}

// What cannot be asked for says why.
func TestBegin(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		for connection, want := range map[string]string{"dc": "self-hosted", "bare": base + "/oauth/bare", "none": "permission"} {
			if _, err := n.api.Begin(n.as(1), connection, "/"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", connection, err)
			}
		}
		if _, err := n.api.Begin(identity.With(t.Context(), &identity.Principal{UserID: 3}), "cloud", "/"); !fault.Is(err, fault.Forbidden) {
			t.Errorf("without a permission there: %v", err)
		}
		if list, err := n.api.Cloud(n.as(1)); err != nil || len(list) != 2 {
			t.Errorf("%v, %v", list.Names(), err)
		}
	})
}

// A user begins ten times a minute: each time, the platform may be asked about a
// code that was made up.
func TestBeginIsLimited(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		for i := range 11 {
			if _, err := n.api.Begin(n.as(1), "cloud", "/"); fault.Is(err, fault.RateLimited) != (i == 10) || i == 10 && fault.As(err).RetryAfter != 6*time.Second {
				t.Errorf("%d: %v", i, err)
			}
		}
		if _, err := n.api.Begin(n.as(2), "cloud", "/"); err != nil {
			t.Errorf("another user: %v", err)
		}
		n.pass(6 * time.Second)
		if _, err := n.api.Begin(n.as(1), "cloud", "/"); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}

// A callback that the user did not ask for, in this session, now and once, keeps
// nothing; nor does one that the platform refuses.
func TestCallbacksThatAreRefused(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		complete := func(user int64, back admin.Callback) error {
			_, _, err := n.api.Complete(n.as(user), "cloud", back)
			return err
		}
		refuse := func(name string, err error, code fault.Code, words string) {
			t.Helper()
			if !fault.Is(err, code) || !strings.Contains(fault.As(err).Message, words) {
				t.Errorf("%s: %v", name, err)
			}
		}
		good := n.walk(1, ana)
		forged := good
		forged.State = secret.New("forged")
		refuse("a forged state", complete(1, forged), fault.Invalid, "matches none of your requests")
		refuse("no state", complete(1, admin.Callback{Code: good.Code}), fault.Invalid, "matches none of your requests")
		refuse("of another user", complete(2, good), fault.Invalid, "matches none of your requests")
		refuse("forged, with words", complete(1, admin.Callback{State: forged.State, Error: "visit evil.example"}), fault.Invalid, "matches none of your requests")
		elsewhere := identity.With(t.Context(), func() *identity.Principal { p := *identity.From(n.as(1)); p.Session = 77; return &p }())
		_, _, err := n.api.Complete(elsewhere, "cloud", good)
		refuse("of another session", err, fault.Invalid, "matches none of your requests")
		if _, _, err = n.api.Complete(n.as(1), "bare", good); !fault.Is(err, fault.Invalid) {
			t.Errorf("of another connection: %v", err)
		}
		if n.Asked("access_token") != 0 {
			t.Error("the platform was asked for tokens")
		}
		if err := complete(1, good); err != nil {
			t.Fatal(err)
		}
		refuse("a replayed state", complete(1, good), fault.Invalid, "matches none of your requests")

		late := n.walk(1, ana)
		n.pass(10 * time.Minute)
		refuse("a state that is over", complete(1, late), fault.Invalid, "matches none of your requests")

		twice := n.walk(2, ben)
		twice.Code = good.Code
		refuse("a code used twice", complete(2, twice), fault.Conflict, "The specified code is not valid")

		denied := n.walk(2, ben)
		refuse("denied", complete(2, admin.Callback{State: denied.State, Error: "access_denied"}), fault.Conflict, "You did not authorise")
		refuse("denied, replayed", complete(2, denied), fault.Invalid, "matches none of your requests")
		other := n.walk(2, ben)
		refuse("another error", complete(2, admin.Callback{State: other.State, Error: "server_error", Description: "try later"}), fault.Conflict, "server_error try later")
		empty := n.walk(2, ben)
		refuse("no code", complete(2, admin.Callback{State: empty.State}), fault.Conflict, "no code")

		away := n.walk(2, ben)
		n.SetFault("access_token", playgroundtest.Fault{Kind: playgroundtest.Broken})
		refuse("the platform is away", complete(2, away), fault.Unavailable, "500")
		n.SetFault("access_token", playgroundtest.Fault{})
		if list, err := n.store.ListAuthorizations(t.Context(), 2, 0, 10); err != nil || len(list) != 0 {
			t.Errorf("kept: %+v, %v", list, err)
		}
	})
}

// A request that was made with a token is completed in any session of its user.
func TestARequestOfAToken(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{WithoutPKCE: true}, func(t *testing.T, n *node) {
		byToken := *identity.From(n.as(1))
		byToken.Session, byToken.Token = 0, 5
		location, err := n.api.Begin(identity.With(t.Context(), &byToken), "cloud", "/")
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := n.Grant(location, ana)
		if _, _, err := n.api.Complete(n.as(1), "cloud", admin.ReadCallback(answer)); err != nil {
			t.Error(err)
		}
	})
}

// What the platform says of an account fits where it is shown and kept.
func TestAnAccountWithALongName(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		n.Change(func(o *bitbucketcloud.Options) {
			o.Accounts = append(o.Accounts, bitbucketcloud.Account{ID: "long", UUID: "{long}", DisplayName: strings.Repeat("é", 100_000)})
		})
		n.Change(func(o *bitbucketcloud.Options) {
			o.Accounts = append(o.Accounts, bitbucketcloud.Account{ID: "odd", UUID: strings.Repeat("x", 100_000), DisplayName: "Odd"})
		})
		if a := n.authorize(1, "long"); a.AccountName != strings.Repeat("é", notify.MaxName-1)+"…" {
			t.Errorf("its name has %d bytes", len(a.AccountName))
		}
		if _, _, err := n.api.Complete(n.as(1), "cloud", n.walk(1, "odd")); !fault.Is(err, fault.Unavailable) {
			t.Errorf("with an endless id: %v", err)
		}
	})
}

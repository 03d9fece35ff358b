package identity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity/passkeytest"
	"outrigger/internal/secret"
)

// member signs a user of a company in whose provider does not say when that was, and
// gives contexts of that session.
func (n node) member(t *testing.T, c *company, name string) func() context.Context {
	t.Helper()
	c.account = Account{Name: name, Subject: "subject of " + name}
	browser := BrowserSecret()
	session, _, err := n.CompleteSignIn(t.Context(), "oidc", browser, Answer{State: n.begin(t, browser, here), Code: secret.New("code")}, here)
	if err != nil {
		t.Fatal(err)
	}
	return func() context.Context {
		p, err := n.Session(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		return With(t.Context(), p)
	}
}

func (n node) mustMakeCode(t *testing.T, user string) secret.Value {
	t.Helper()
	code, expires, err := n.MakeConfirmCode(t.Context(), user)
	if err != nil || !expires.Equal(n.read().Add(10*time.Minute)) || len(plainCode(code)) != 16 {
		t.Fatalf("%d characters until %s, %v", len(plainCode(code)), expires, err)
	}
	return code
}

// A code of an administrator lets the session that it is entered in set up the first
// second factor, and nothing else; with that factor the user confirms.
func TestACodeForTheFirstFactor(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := new(company)
		n.useCompany(c)
		n.mustCreate(t, "bea")
		ann, other := n.member(t, c, "ann"), n.member(t, c, "ann")
		code := n.mustMakeCode(t, "oidc:ann")
		if _, err := n.SetUpApp(ann()); !errors.Is(err, ErrUnconfirmed) || !strings.Contains(err.Error(), "auth_time") || !strings.Contains(err.Error(), "one-time code") {
			t.Errorf("before the code is entered: %v", err)
		}
		if err := n.UseConfirmCode(ann(), secret.New(" "+strings.ToLower(code.Reveal())), here); err != nil {
			t.Fatal(err)
		}
		for what, do := range n.handsOver("oidc:ann") {
			err := do(ann())
			if enrols := what == "an app" || what == "a passkey"; enrols && err != nil || !enrols && !errors.Is(err, ErrUnconfirmed) {
				t.Errorf("%s with the code: %v", what, err)
			}
			if err := do(other()); !errors.Is(err, ErrUnconfirmed) {
				t.Errorf("%s in another session of the user: %v", what, err)
			}
		}
		made, err := n.SetUpApp(ann())
		if err != nil {
			t.Fatal(err)
		}
		a := app{n, made.Secret.Reveal()}
		recovery, err := n.UseApp(ann(), a.code(t, -1))
		if err != nil || len(recovery) != recoveryCodes {
			t.Fatalf("%d recovery codes, %v", len(recovery), err)
		}
		noSecretStored(t, n, plainCode(code), code.Reveal())
		for what, do := range n.handsOver("oidc:ann") { // a passkey would be the second factor
			if err := do(ann()); !errors.Is(err, ErrUnconfirmed) {
				t.Errorf("%s after the first factor: %v", what, err)
			}
		}
		if err := n.Confirm(ann(), Proof{Code: a.code(t, 0)}, here); err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"a passkey", "a token of scope all", "recovery codes"} {
			if err := n.handsOver("oidc:ann")[what](ann()); err != nil {
				t.Errorf("%s, confirmed by the factor: %v", what, err)
			}
		}
		trail := strings.Join(n.trail(t), "\n")
		for _, entry := range []string{`"make confirmation code","user","oidc:ann"]{}{"expires":"`, `["ann","use confirmation code","user","oidc:ann"]`, `"add authenticator app","user","oidc:ann"]{}`} {
			if strings.Count(trail, entry) != 1 {
				t.Errorf("the trail has not %s once:\n%s", entry, trail)
			}
		}
	})
}

// A code works once, for its user, for 10 minutes, and only the last one made; wrong
// ones count as wrong passwords do.
func TestACodeForTheFirstFactorWorksOnce(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := new(company)
		n.useCompany(c)
		ann, ben := n.member(t, c, "ann"), n.member(t, c, "ben")
		refused := func(when string, ctx context.Context, code secret.Value) {
			t.Helper()
			if err := n.UseConfirmCode(ctx, code, here); !fault.Is(err, fault.Unauthenticated) || !strings.Contains(err.Error(), "Ask for another one") {
				t.Errorf("%s: %v", when, err)
			}
			if _, err := n.SetUpApp(ctx); !errors.Is(err, ErrUnconfirmed) {
				t.Errorf("%s, an app: %v", when, err)
			}
		}
		first := n.mustMakeCode(t, "oidc:ann")
		second := n.mustMakeCode(t, "oidc:ann")
		refused("one that another replaced", ann(), first)
		refused("another user's", ben(), second)
		refused("none", ann(), secret.New(""))
		n.move(confirmCodeLife)
		refused("after 10 minutes", ann(), second)
		third := n.mustMakeCode(t, "oidc:ann")
		if err := n.UseConfirmCode(ann(), third, here); err != nil {
			t.Fatal(err)
		}
		if err := n.UseConfirmCode(ann(), third, here); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a second time: %v", err)
		}
		n.move(confirmedFor)
		if _, err := n.SetUpApp(ann()); !errors.Is(err, ErrUnconfirmed) {
			t.Errorf("10 minutes after it was entered: %v", err)
		}
		for range pairLimit().failures {
			if err := n.UseConfirmCode(ben(), secret.New("AAAA-BBBB-CCCC-DDDD"), here); !fault.Is(err, fault.Unauthenticated) {
				t.Fatal(err)
			}
		}
		if err := n.UseConfirmCode(ben(), n.mustMakeCode(t, "oidc:ben"), here); !fault.Is(err, fault.RateLimited) {
			t.Errorf("the right one after ten wrong ones: %v", err)
		}
	})
}

// One code entered in several windows at once, on two nodes, counts in one of them.
func TestACodeForTheFirstFactorAtOnce(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := new(company)
		n.useCompany(c)
		nodes := []node{n, newNode(t, n.db, n.clock)}
		nodes[1].useCompany(c)
		var windows []context.Context
		for range 6 {
			windows = append(windows, n.member(t, c, "ann")())
		}
		code := n.mustMakeCode(t, "oidc:ann")
		errs := make([]error, len(windows))
		var all sync.WaitGroup
		for i := range windows {
			all.Go(func() { errs[i] = nodes[i%2].UseConfirmCode(windows[i], code, here) })
		}
		all.Wait()
		accepted := 0
		for _, err := range errs {
			if err == nil {
				accepted++
			} else if !fault.Is(err, fault.Unauthenticated) {
				t.Error(err)
			}
		}
		if accepted != 1 {
			t.Errorf("%d windows may go on", accepted)
		}
	})
}

// A code is for users who can show nothing else, and who are there.
func TestWhoGetsACode(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := new(company)
		n.useCompany(c)
		n.mustCreate(t, "ann")
		ben := n.member(t, c, "ben")
		if err := n.UseConfirmCode(ben(), n.mustMakeCode(t, "oidc:ben"), here); err != nil {
			t.Fatal(err)
		}
		waits := n.mustMakeCode(t, "oidc:ben")
		made, err := n.SetUpApp(ben())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.UseApp(ben(), app{n, made.Secret.Reveal()}.code(t, 0)); err != nil {
			t.Fatal(err)
		}
		if err := n.UseConfirmCode(ben(), waits, here); !fault.Is(err, fault.Conflict) {
			t.Errorf("one that was made before the factor: %v", err)
		}
		n.member(t, c, "cid")
		left := n.mustMakeCode(t, "oidc:cid")
		if err := n.DisableUser(t.Context(), "oidc:cid"); err != nil {
			t.Fatal(err)
		}
		for user, want := range map[string]struct {
			code fault.Code
			says string
		}{
			"ann":      {fault.Conflict, "has a password here"},
			"oidc:ben": {fault.Conflict, "outrigger users second-factor remove oidc:ben"},
			"oidc:cid": {fault.Conflict, "is disabled"},
			"oidc:dan": {fault.NotFound, "from their first sign-in on"},
			"x\x00":    {fault.NotFound, "There is no user"},
		} {
			if _, _, err := n.MakeConfirmCode(t.Context(), user); !fault.Is(err, want.code) || !strings.Contains(fmt.Sprint(err), want.says) {
				t.Errorf("%q: %v", user, err)
			}
		}
		if _, err := n.EnableUser(t.Context(), "oidc:cid", nil); err != nil {
			t.Fatal(err)
		}
		if err := n.UseConfirmCode(n.member(t, c, "cid")(), left, here); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("one from before the user was disabled: %v", err)
		}
	})
}

// Who signs in elsewhere confirms with a passkey, and does not sign in with it alone:
// the provider says who still may.
func TestAPasskeyOfAProvidersUser(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := new(company)
		n.useCompany(c)
		ann := n.member(t, c, "ann")
		key := &passkeytest.Authenticator{Origin: passkeyOrigin, Unlocked: true}
		if recovery := n.mustAddPasskey(t, "oidc:ann", key); len(recovery) != recoveryCodes {
			t.Errorf("%d recovery codes", len(recovery))
		}
		for range 2 {
			if session, _, err := n.signInWith(t, key); !fault.Is(err, fault.Conflict) || session != "" || !strings.Contains(err.Error(), "Sign in there") {
				t.Errorf("signed in with it: %v", err)
			}
		}
		asked, err := n.BeginConfirm(ann())
		if err != nil {
			t.Fatal(err)
		}
		answer, err := key.Get(asked.Options)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Confirm(ann(), Proof{Passkey: answer, Ceremony: asked.Name}, here); err != nil || n.RequireConfirmed(ann()) != nil {
			t.Errorf("confirmed with it: %v", err)
		}
	})
}

package identity

import (
	"context"
	"errors"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity/passkeytest"
	"outrigger/internal/secret"
)

// handsOver is what could hand an account to another.
func (n node) handsOver(user string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"a token of scope all": func(ctx context.Context) error {
			_, _, err := n.CreateToken(ctx, user, "x", All, time.Time{})
			return err
		},
		"a token of scope read": func(ctx context.Context) error {
			_, _, err := n.CreateToken(ctx, user, "x", Read, time.Time{})
			return err
		},
		"a token of scope backup": func(ctx context.Context) error {
			_, _, err := n.CreateToken(ctx, user, "x", Backup, time.Time{})
			return err
		},
		"a token in another's name": func(ctx context.Context) error {
			_, _, err := n.CreateToken(ctx, "bea", "x", Builds, time.Time{})
			return err
		},
		"enabling a user": func(ctx context.Context) error {
			_, err := n.EnableUser(ctx, "bea", nil)
			return err
		},
		"a grant": func(ctx context.Context) error {
			g, err := n.Grant(ctx, user, Admin, Resource{})
			if err == nil {
				err = n.Revoke(ctx, user, g.ID)
			}
			return err
		},
		"a grant taken back": func(ctx context.Context) error {
			err := n.Revoke(ctx, user, 4711)
			if fault.Is(err, fault.NotFound) {
				err = nil // was not refused
			}
			return err
		},
		"an app":    func(ctx context.Context) error { _, err := n.SetUpApp(ctx); return err },
		"a passkey": func(ctx context.Context) error { _, err := n.NewPasskey(ctx); return err },
		"recovery codes": func(ctx context.Context) error {
			_, err := n.NewRecoveryCodes(ctx)
			if fault.Is(err, fault.Conflict) {
				err = nil // has no factor yet
			}
			return err
		},
		"another's password": func(ctx context.Context) error {
			return n.SetPassword(ctx, "bea", secret.New(goodPassword))
		},
		"another's factors": func(ctx context.Context) error {
			err := n.RemoveFactors(ctx, user)
			if fault.Is(err, fault.Conflict) {
				err = nil
			}
			return err
		},
	}
}

func TestASessionIsConfirmedAgain(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		n.mustCreate(t, "bea")
		n.mustGrant(t, "ann", SysAdmin, Resource{})
		session, _, err := n.SignIn(t.Context(), "ann", goodPassword, here)
		if err != nil {
			t.Fatal(err)
		}
		asks := func() context.Context {
			p, err := n.Session(t.Context(), session)
			if err != nil {
				t.Fatal(err)
			}
			return With(t.Context(), p)
		}
		all := func(when string, allowed bool) {
			for what, do := range n.handsOver("ann") {
				if err := do(asks()); (err == nil) != allowed || !allowed && (!errors.Is(err, ErrUnconfirmed) || !fault.Is(err, fault.Forbidden)) {
					t.Errorf("%s %s: %v", what, when, err)
				}
			}
		}
		all("after signing in", true)
		n.move(confirmedFor)
		all("10 minutes later", false)
		for _, scope := range []Scope{Monitoring, Builds, Mail} {
			if _, _, err := n.CreateToken(asks(), "ann", "x", scope, time.Time{}); err != nil {
				t.Errorf("a token of scope %s: %v", scope, err)
			}
		}
		if err := n.Confirm(asks(), Proof{Password: secret.New("another password")}, here); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("with a wrong password: %v", err)
		}
		all("after a wrong password", false)
		if err := n.Confirm(asks(), Proof{Password: secret.New(goodPassword)}, here); err != nil {
			t.Fatal(err)
		}
		all("confirmed", true)

		a, recovery := n.mustUseApp(t, "ann")
		key := &passkeytest.Authenticator{Origin: passkeyOrigin}
		n.mustAddPasskey(t, "ann", key)
		for name, proof := range map[string]func() Proof{
			"a code":          func() Proof { return Proof{Code: a.code(t, 0)} },
			"a recovery code": func() Proof { return Proof{Code: recovery[0]} },
			"a passkey": func() Proof {
				asked, err := n.BeginConfirm(asks())
				if err != nil {
					t.Fatal(err)
				}
				answer, err := key.Get(asked.Options)
				if err != nil {
					t.Fatal(err)
				}
				return Proof{Passkey: answer, Ceremony: asked.Name}
			},
		} {
			n.move(confirmedFor)
			shown := proof()
			if err := n.Confirm(asks(), shown, here); err != nil || n.RequireConfirmed(asks()) != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := n.Confirm(asks(), shown, here); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s again: %v", name, err)
			}
		}
	})
}

// Guesses at the password in a session that was left open count as sign-ins.
func TestConfirmingIsThrottled(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		ctx := n.as(t, "ann")
		for range pairLimit().failures {
			if err := n.Confirm(ctx, Proof{Password: secret.New("another password")}, here); !fault.Is(err, fault.Unauthenticated) {
				t.Fatal(err)
			}
		}
		if err := n.Confirm(ctx, Proof{Password: secret.New(goodPassword)}, here); !fault.Is(err, fault.RateLimited) {
			t.Errorf("after ten: %v", err)
		}
	})
}

// The password comes with a request by Basic; a token alone is not enough, and a
// code beside it is.
func TestTokensHandNothingOver(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		n.mustCreate(t, "bea")
		p, err := n.Basic(t.Context(), "ann", goodPassword, here)
		if err != nil {
			t.Fatal(err)
		}
		for what, do := range n.handsOver("ann") {
			if err := do(With(t.Context(), p)); err != nil {
				t.Errorf("%s by Basic: %v", what, err)
			}
		}
		token, _, err := n.CreateToken(t.Context(), "ann", "x", All, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if p, err = n.Bearer(t.Context(), token.Reveal()); err != nil {
			t.Fatal(err)
		}
		ctx := With(t.Context(), p)
		for what, do := range n.handsOver("ann") {
			if err := do(ctx); !fault.Is(err, fault.Forbidden) || errors.Is(err, ErrUnconfirmed) {
				t.Errorf("%s by a token: %v", what, err)
			}
		}
		a, _ := n.mustUseApp(t, "ann")
		shown := func(code secret.Value) (*Principal, error) {
			return n.Bearer(WithCode(t.Context(), code), token.Reveal())
		}
		if _, err := shown(secret.New("123456")); !fault.Is(err, fault.Forbidden) {
			t.Errorf("with a wrong code: %v", err)
		}
		if p, err = shown(a.code(t, 0)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := n.CreateToken(With(t.Context(), p), "ann", "y", All, time.Time{}); err != nil {
			t.Errorf("with a code: %v", err)
		}
		if _, err := shown(a.code(t, 0)); !fault.Is(err, fault.Forbidden) {
			t.Errorf("with that code again: %v", err)
		}
		if p, err := n.Bearer(t.Context(), token.Reveal()); err != nil || n.RequireConfirmed(With(t.Context(), p)) == nil {
			t.Errorf("without one, after it: %v", err)
		}
	})
}

// The password of a user with a second factor is enough with a code of it.
func TestPasswordAndCode(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		a, recovery := n.mustUseApp(t, "ann")
		basic := func(password string, code secret.Value) (*Principal, error) {
			return n.Basic(WithCode(t.Context(), code), "ann", password, here)
		}
		if _, err := n.Basic(t.Context(), "ann", goodPassword, here); !fault.Is(err, fault.Forbidden) {
			t.Errorf("without a code: %v", err)
		}
		if _, err := basic(goodPassword, secret.New("123456")); !fault.Is(err, fault.Forbidden) {
			t.Errorf("with a wrong one: %v", err)
		}
		for i, code := range []secret.Value{a.code(t, 0), recovery[0]} {
			if _, err := basic("another password", code); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%d with a wrong password: %v", i, err)
			}
			p, err := basic(goodPassword, code)
			if err != nil || n.RequireConfirmed(With(t.Context(), p)) != nil {
				t.Errorf("%d: %+v, %v", i, p, err)
			}
			if _, err := basic(goodPassword, code); !fault.Is(err, fault.Forbidden) {
				t.Errorf("%d again: %v", i, err)
			}
		}
	})
}

// Users of a platform confirm with their password there, which is not kept.
func TestPlatformUsersConfirmThere(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		withPlatform(n)
		session, _, err := n.SignIn(t.Context(), "bob", "bob's password", here)
		if err != nil {
			t.Fatal(err)
		}
		n.move(confirmedFor)
		p, err := n.Session(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		ctx := With(t.Context(), p)
		if err := n.RequireConfirmed(ctx); !errors.Is(err, ErrUnconfirmed) {
			t.Errorf("10 minutes later: %v", err)
		}
		if err := n.Confirm(ctx, Proof{Password: secret.New(goodPassword)}, here); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("with a wrong password: %v", err)
		}
		if err := n.Confirm(ctx, Proof{Password: secret.New("bob's password")}, here); err != nil {
			t.Fatal(err)
		}
		if p, err = n.Session(t.Context(), session); err != nil || n.RequireConfirmed(With(t.Context(), p)) != nil {
			t.Errorf("confirmed there: %v", err)
		}
		// Or with a second factor here, also where they sign in on the platform's pages.
		made, err := n.SetUpApp(With(t.Context(), p))
		if err != nil {
			t.Fatal(err)
		}
		a := app{n, made.Secret.Reveal()}
		if _, err := n.UseApp(With(t.Context(), p), a.code(t, -1)); err != nil {
			t.Fatal(err)
		}
		n.move(confirmedFor)
		if err := n.RequireConfirmed(ctx); !errors.Is(err, ErrUnconfirmed) {
			t.Errorf("10 minutes after that: %v", err)
		}
		if err := n.Confirm(ctx, Proof{Code: a.code(t, 0)}, here); err != nil {
			t.Fatal(err)
		}
		if p, err = n.Session(t.Context(), session); err != nil || n.RequireConfirmed(With(t.Context(), p)) != nil {
			t.Errorf("confirmed by a code: %v", err)
		}
		// From then on the password there is not enough by itself.
		var needed *FactorNeeded
		if _, _, err := n.SignIn(t.Context(), "bob", "bob's password", here); !errors.As(err, &needed) {
			t.Errorf("signed in by the password alone: %v", err)
		}
		if _, err := n.Basic(t.Context(), "bob", "bob's password", here); !fault.Is(err, fault.Forbidden) {
			t.Errorf("Basic by the password alone: %v", err)
		}

		// A local user of that name is another one.
		n.mustCreate(t, "Bob")
		if err := n.Confirm(With(t.Context(), p), Proof{Password: secret.New(goodPassword)}, here); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("with the password of the local bob: %v", err)
		}
	})
}

// What a passkey has signed to confirm one session confirms no other, and nothing
// twice, also where the passkey does not count its uses.
func TestAConfirmationIsOfOneSessionOnce(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		key := &passkeytest.Authenticator{Origin: passkeyOrigin, Synced: true}
		n.mustAddPasskey(t, "ann", key)
		mine, other := n.as(t, "ann"), n.as(t, "ann")
		From(other).Session++
		asked, err := n.BeginConfirm(mine)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := key.Get(asked.Options)
		if err != nil {
			t.Fatal(err)
		}
		proof := Proof{Passkey: answer, Ceremony: asked.Name}
		if err := n.Confirm(other, proof, here); !errors.Is(err, ErrStepOver) {
			t.Errorf("in another session of the user: %v", err)
		}
		if err := n.Confirm(mine, proof, here); err != nil {
			t.Errorf("in its own session: %v", err)
		}
		if err := n.Confirm(mine, proof, here); !errors.Is(err, ErrStepOver) {
			t.Errorf("a second time: %v", err)
		}
		if asked, err = n.NewPasskey(mine); err != nil {
			t.Fatal(err)
		}
		if answer, err = (&passkeytest.Authenticator{Origin: passkeyOrigin}).Create(asked.Options); err != nil {
			t.Fatal(err)
		}
		if _, err := n.AddPasskey(other, "x", asked.Name, answer); !fault.Is(err, fault.Conflict) {
			t.Errorf("a passkey registered in another session: %v", err)
		}
	})
}

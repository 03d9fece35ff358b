package identity

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// as is a context in which the user asks with a session of now.
func (n node) as(t *testing.T, name string) context.Context {
	t.Helper()
	u, err := n.User(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	p := u.principal()
	p.Session, p.ConfirmedAt = 4711, n.read()
	return With(t.Context(), p)
}

// app is a phone with an authenticator app, made to the RFC by the library.
type app struct {
	n      node
	secret string
}

// code is what the app shows, some steps from now.
func (a app) code(t *testing.T, steps int) secret.Value {
	t.Helper()
	code, err := totp.GenerateCode(a.secret, a.n.read().Add(time.Duration(steps)*totpPeriod))
	if err != nil {
		t.Fatal(err)
	}
	return secret.New(code)
}

// mustUseApp sets an app up for a user, with the code of the step before, so that
// the present one may still be used.
func (n node) mustUseApp(t *testing.T, name string) (app, []secret.Value) {
	t.Helper()
	ctx := n.as(t, name)
	made, err := n.SetUpApp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a := app{n, made.Secret.Reveal()}
	recovery, err := n.UseApp(ctx, a.code(t, -1))
	if err != nil {
		t.Fatal(err)
	}
	return a, recovery
}

// firstStep shows the right password.
func (n node) firstStep(t *testing.T, name string) string {
	t.Helper()
	session, _, err := n.SignIn(t.Context(), name, goodPassword, here)
	var needed *FactorNeeded
	if !errors.As(err, &needed) || session != "" || !fault.Is(err, fault.Unauthenticated) {
		t.Fatalf("a password alone: session %q, %v", session, err)
	}
	return needed.Pending
}

func TestAnAppIsSetUpWithACode(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		ctx := n.as(t, "ann")
		made, err := n.SetUpApp(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(made.URI.Reveal(), "otpauth://totp/Outrigger:ann?") || made.QR.Bounds().Dx() == 0 {
			t.Errorf("the app is told %s", made.URI.Reveal())
		}
		again, err := n.SetUpApp(ctx)
		if err != nil || !again.Secret.Equal(made.Secret) {
			t.Errorf("the page, reloaded, shows another secret: %v", err)
		}
		if _, err := n.UseApp(ctx, secret.New("000000")); !fault.Is(err, fault.Invalid) {
			t.Errorf("a wrong code: %v", err)
		}
		if _, _, err := n.SignIn(t.Context(), "ann", goodPassword, here); err != nil {
			t.Errorf("an app that was not set up is asked for: %v", err)
		}
		recovery, err := n.UseApp(ctx, app{n, made.Secret.Reveal()}.code(t, 0))
		if err != nil || len(recovery) != recoveryCodes {
			t.Fatalf("%d recovery codes, %v", len(recovery), err)
		}
		if _, err := n.SetUpApp(ctx); !fault.Is(err, fault.Conflict) {
			t.Errorf("a second app: %v", err)
		}
		u, err := n.User(t.Context(), "ann")
		if want := (Factors{App: true, Recovery: recoveryCodes}); err != nil || u.Factors != want {
			t.Errorf("%+v, %v", u.Factors, err)
		}
		noSecretStored(t, n, made.Secret.Reveal(), plainCode(recovery[0]), recovery[0].Reveal())
	})
}

// noSecretStored looks for texts in everything that is stored of second factors,
// in the trail and in the log.
func noSecretStored(t *testing.T, n node, texts ...string) {
	t.Helper()
	raw, err := base32Text.DecodeString(texts[0])
	if err != nil {
		t.Fatal(err)
	}
	texts = append(texts, string(raw))
	stored := n.log.String() + strings.Join(n.trail(t), "\n")
	err = n.db.Read(t.Context(), func(tx *db.Tx) error {
		for _, q := range []string{`SELECT secret FROM identity_totp`, `SELECT hash FROM identity_recovery_codes`, `SELECT hash FROM identity_steps`, `SELECT hash FROM identity_confirm_codes`} {
			rows, err := tx.Query(t.Context(), q)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var b []byte
				if err := rows.Scan(&b); err != nil {
					return err
				}
				stored += string(b) + "\n"
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if strings.Contains(stored, text) {
			t.Errorf("%q is stored or logged in clear", text)
		}
	}
}

// The second step of a sign-in, from the right password on.
func TestSecondStep(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "root")
		n.mustGrant(t, "root", SysAdmin, Resource{})
		root := n.as(t, "root")
		for name, c := range map[string]struct {
			shows     func(a app, recovery []secret.Value) secret.Value
			meanwhile func(ctx context.Context, user string) error
			in, over  bool
		}{
			"the code": {shows: func(a app, _ []secret.Value) secret.Value { return a.code(t, 0) }, in: true},
			"the code with a space": {shows: func(a app, _ []secret.Value) secret.Value {
				c := a.code(t, 0).Reveal()
				return secret.New(c[:3] + " " + c[3:] + " ")
			}, in: true},
			"a clock that is ahead":   {shows: func(a app, _ []secret.Value) secret.Value { return a.code(t, 1) }, in: true},
			"a clock far ahead":       {shows: func(a app, _ []secret.Value) secret.Value { return a.code(t, 2) }},
			"the code that set it up": {shows: func(a app, _ []secret.Value) secret.Value { return a.code(t, -1) }},
			"nothing":                 {shows: func(app, []secret.Value) secret.Value { return secret.Value{} }},
			"the password":            {shows: func(app, []secret.Value) secret.Value { return secret.New(goodPassword) }},
			"a recovery code":         {shows: func(_ app, r []secret.Value) secret.Value { return r[3] }, in: true},
			"one in small letters":    {shows: func(_ app, r []secret.Value) secret.Value { return secret.New(strings.ToLower(plainCode(r[9]))) }, in: true},
			"one of another user":     {shows: func(app, []secret.Value) secret.Value { return secret.New("AAAA-BBBB-CCCC-DDDD") }},
			"too late": {shows: func(a app, _ []secret.Value) secret.Value { return a.code(t, 0) }, over: true,
				meanwhile: func(context.Context, string) error { n.move(stepLife); return nil }},
			"disabled meanwhile": {shows: func(a app, _ []secret.Value) secret.Value { return a.code(t, 0) }, over: true,
				meanwhile: n.DisableUser},
			"the password was changed": {shows: func(a app, _ []secret.Value) secret.Value { return a.code(t, 0) }, over: true,
				meanwhile: func(ctx context.Context, user string) error {
					return n.SetPassword(ctx, user, secret.New("another password"))
				}},
			"the factor was removed": {shows: func(a app, _ []secret.Value) secret.Value { return a.code(t, 0) }, over: true,
				meanwhile: n.RemoveFactors},
			"deleted meanwhile": {shows: func(a app, _ []secret.Value) secret.Value { return a.code(t, 0) }, over: true,
				meanwhile: n.DeleteUser},
		} {
			user := "ann of " + name
			n.mustCreate(t, user)
			a, recovery := n.mustUseApp(t, user)
			pending := n.firstStep(t, user)
			if c.meanwhile != nil {
				if err := c.meanwhile(root, user); err != nil {
					t.Fatal(name, err)
				}
				root = n.as(t, "root") // the clock may have moved
			}
			code := c.shows(a, recovery)
			session, p, err := n.SecondStep(t.Context(), pending, Proof{Code: code}, here)
			if c.in {
				if err != nil || p.Name != user {
					t.Errorf("%s: %v", name, err)
					continue
				}
				if got, err := n.Session(t.Context(), session); err != nil || got.Name != user {
					t.Errorf("%s: its session is of %v, %v", name, got, err)
				}
				if _, _, err := n.SecondStep(t.Context(), pending, Proof{Code: a.code(t, 1)}, here); !errors.Is(err, ErrStepOver) {
					t.Errorf("%s: the step is taken twice: %v", name, err)
				}
				if _, _, err := n.SecondStep(t.Context(), n.firstStep(t, user), Proof{Code: code}, here); !fault.Is(err, fault.Unauthenticated) {
					t.Errorf("%s: it is accepted twice: %v", name, err)
				}
				continue
			}
			if session != "" || !fault.Is(err, fault.Unauthenticated) || errors.Is(err, ErrStepOver) != c.over {
				t.Errorf("%s: session %q, %v", name, session, err)
			}
		}
	})
}

// Whatever is shown, guesses at codes end: five of a sign-in, ten of a user at an
// address, a right password in between or not.
func TestGuessesAtCodesEnd(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		a, _ := n.mustUseApp(t, "ann")
		pending := n.firstStep(t, "ann")
		for i := range 2 * stepTries {
			_, _, err := n.SecondStep(t.Context(), pending, Proof{Code: secret.New("12345")}, here)
			if i%stepTries == stepTries-1 {
				if _, _, err := n.SecondStep(t.Context(), pending, Proof{Code: a.code(t, 0)}, here); !errors.Is(err, ErrStepOver) && i < 2*stepTries-1 {
					t.Errorf("after %d wrong codes the right one: %v", i+1, err)
				}
				if i < 2*stepTries-1 {
					n.move(rememberFor) // so that the password is computed again
					pending = n.firstStep(t, "ann")
				}
			}
			if !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("wrong code %d: %v", i+1, err)
			}
		}
		if _, _, err := n.SignIn(t.Context(), "ann", goodPassword, here); !fault.Is(err, fault.RateLimited) {
			t.Errorf("ten wrong codes, and the password again: %v", err)
		}
	})
}

// Of many that show one code at once, on two nodes, one gets in.
func TestACodeIsAcceptedOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		nodes := []node{newNode(t, d, c), newNode(t, d, c)}
		nodes[0].mustCreate(t, "ann")
		a, recovery := nodes[0].mustUseApp(t, "ann")
		for name, code := range map[string]secret.Value{"code of the app": a.code(t, 0), "recovery code": recovery[0]} {
			const tries = 6
			pending := make([]string, tries)
			for i := range pending {
				pending[i] = nodes[i%2].firstStep(t, "ann")
			}
			var all sync.WaitGroup
			var mu sync.Mutex
			in := 0
			for i := range tries {
				all.Go(func() {
					_, _, err := nodes[i%2].SecondStep(t.Context(), pending[i], Proof{Code: code}, here)
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						in++
					} else if !fault.Is(err, fault.Unauthenticated) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if in != 1 {
				t.Errorf("a %s let %d in", name, in)
			}
		}
	}, secret.Migrations, audit.Migrations, Migrations)
}

func TestAPasswordAloneIsRefusedWithoutASecondStep(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		if _, err := n.Basic(t.Context(), "ann", goodPassword, here); err != nil {
			t.Fatal(err)
		}
		n.mustUseApp(t, "ann")
		for range 2 { // the second time it is remembered
			if _, err := n.Basic(t.Context(), "ann", goodPassword, here); !fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), "or use a token") {
				t.Errorf("the right password: %v", err)
			}
		}
		if _, err := n.Basic(t.Context(), "ann", "another password", here); err == nil || err.Error() != ErrUnauthenticated().Error() {
			t.Errorf("a wrong password: %v", err)
		}
		token, _, err := n.CreateToken(t.Context(), "ann", "x", Read, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Basic(t.Context(), "ann", token.Reveal(), here); err != nil {
			t.Errorf("a token: %v", err)
		}
		if err := n.CheckPassword(t.Context(), "ann", goodPassword, here); err != nil {
			t.Errorf("the present password, to change it: %v", err)
		}
	})
}

func TestRemovingFactors(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		session, _, err := n.SignIn(t.Context(), "ann", goodPassword, here)
		if err != nil {
			t.Fatal(err)
		}
		_, recovery := n.mustUseApp(t, "ann")
		made, err := n.NewRecoveryCodes(n.as(t, "ann"))
		if err != nil || len(made) != recoveryCodes || made[0].Equal(recovery[0]) {
			t.Fatalf("%v, %v", made, err)
		}
		if _, _, err := n.SecondStep(t.Context(), n.firstStep(t, "ann"), Proof{Code: recovery[0]}, here); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a recovery code from before: %v", err)
		}
		if err := n.RemoveFactors(t.Context(), "ANN"); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Session(t.Context(), session); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the session goes on: %v", err)
		}
		if _, _, err := n.SignIn(t.Context(), "ann", goodPassword, here); err != nil {
			t.Errorf("the password alone: %v", err)
		}
		if err := n.RemoveFactors(t.Context(), "ann"); !fault.Is(err, fault.Conflict) {
			t.Errorf("again: %v", err)
		}
		if _, err := n.NewRecoveryCodes(n.as(t, "ann")); !fault.Is(err, fault.Conflict) {
			t.Errorf("codes for nothing: %v", err)
		}
		// One's own app: with it the recovery codes go.
		n.mustUseApp(t, "ann")
		if err := n.RemoveApp(n.as(t, "ann")); err != nil {
			t.Fatal(err)
		}
		if u, err := n.User(t.Context(), "ann"); err != nil || u.Factors != (Factors{}) {
			t.Errorf("%+v, %v", u.Factors, err)
		}
		var actions []string
		for _, line := range n.trail(t) {
			actions = append(actions, strings.Split(line, `"`)[3])
		}
		want := "create, sign in, add authenticator app, make recovery codes, remove second factor, sign in, add authenticator app, remove authenticator app"
		if got := strings.Join(actions, ", "); got != want {
			t.Errorf("the trail has %s", got)
		}
	})
}

// An app whose secret cannot be read any more lets its user in no
// more; a recovery code still does.
func TestALostKey(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		a, recovery := n.mustUseApp(t, "ann")
		key := bytes.Repeat([]byte{8}, secret.KeySize)
		if lost, err := secret.Forget(t.Context(), n.db, key, SealedPlaces()); err != nil || lost != 1 {
			t.Fatalf("%d lost, %v", lost, err)
		}
		if _, _, err := n.SecondStep(t.Context(), n.firstStep(t, "ann"), Proof{Code: a.code(t, 0)}, here); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the code: %v", err)
		}
		if _, _, err := n.SecondStep(t.Context(), n.firstStep(t, "ann"), Proof{Code: recovery[0]}, here); err != nil {
			t.Errorf("a recovery code: %v", err)
		}
	})
}

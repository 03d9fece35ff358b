package identity

import (
	"errors"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity/passkeytest"
	"outrigger/internal/secret"
)

const passkeyOrigin = "https://outrigger.test"

func (n node) mustAddPasskey(t *testing.T, user string, a *passkeytest.Authenticator) []secret.Value {
	t.Helper()
	ctx := n.as(t, user)
	asked, err := n.NewPasskey(ctx)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := a.Create(asked.Options)
	if err != nil {
		t.Fatal(err)
	}
	recovery, err := n.AddPasskey(ctx, "key of "+user, asked.Name, answer)
	if err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	return recovery
}

// signInWith signs in with nothing but a passkey.
func (n node) signInWith(t *testing.T, a *passkeytest.Authenticator) (string, *Principal, error) {
	t.Helper()
	asked, err := n.BeginPasskeySignIn(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := a.Get(asked.Options)
	if err != nil {
		t.Fatal(err)
	}
	return n.PasskeySignIn(t.Context(), asked.Name, answer, here)
}

func TestSignInWithAPasskey(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		n.mustGrant(t, "ann", Admin, Resource{})
		key := &passkeytest.Authenticator{Origin: passkeyOrigin, Unlocked: true}
		if recovery := n.mustAddPasskey(t, "ann", key); len(recovery) != recoveryCodes {
			t.Errorf("%d recovery codes", len(recovery))
		}
		session, p, err := n.signInWith(t, key)
		if err != nil || p.Name != "ann" || !p.May(Admin, Resource{}) {
			t.Fatalf("%v, %v", p, err)
		}
		if got, err := n.Session(t.Context(), session); err != nil || got.Name != "ann" || n.RequireConfirmed(With(t.Context(), got)) != nil {
			t.Errorf("its session is of %v, %v", got, err)
		}
		list, err := n.Passkeys(n.as(t, "ann"))
		if err != nil || len(list) != 1 || list[0].Name != "key of ann" || !list[0].UsedAt.Equal(n.read()) {
			t.Errorf("%+v, %v", list, err)
		}

		for name, c := range map[string]struct {
			change func()
			back   func()
		}{
			"a locked device":      {func() { key.Unlocked = false }, func() { key.Unlocked = true }},
			"a page of another":    {func() { key.Origin = "https://evil.test" }, func() { key.Origin = passkeyOrigin }},
			"plain http":           {func() { key.Origin = "http://outrigger.test" }, func() { key.Origin = passkeyOrigin }},
			"a copy of the device": {func() { key.Counter = 1 }, func() { key.Counter = 100 }},
		} {
			c.change()
			if session, _, err := n.signInWith(t, key); session != "" || !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s: session %q, %v", name, session, err)
			}
			c.back()
		}

		// One answer is good for one sign-in.
		asked, err := n.BeginPasskeySignIn(t.Context(), here)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := key.Get(asked.Options)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := n.PasskeySignIn(t.Context(), asked.Name, answer, here); err != nil {
			t.Fatal(err)
		}
		if _, _, err := n.PasskeySignIn(t.Context(), asked.Name, answer, here); !errors.Is(err, ErrStepOver) {
			t.Errorf("the same answer again: %v", err)
		}
		asked, err = n.BeginPasskeySignIn(t.Context(), here)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := n.PasskeySignIn(t.Context(), asked.Name, answer, here); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the answer to another question: %v", err)
		}

		n.mustCreate(t, "bob")
		n.mustGrant(t, "bob", SysAdmin, Resource{})
		if err := n.DisableUser(n.as(t, "bob"), "ann"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := n.signInWith(t, key); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("disabled: %v", err)
		}
	})
}

func TestAPasskeyIsASecondFactor(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		key := &passkeytest.Authenticator{Origin: passkeyOrigin} // a touch is enough beside the password
		for _, name := range []string{"ann", "bob"} {
			n.mustCreate(t, name)
		}
		n.mustAddPasskey(t, "ann", key)
		bobs := &passkeytest.Authenticator{Origin: passkeyOrigin}
		n.mustAddPasskey(t, "bob", bobs)

		show := func(a *passkeytest.Authenticator) error {
			pending := n.firstStep(t, "ann")
			asked, err := n.BeginPasskey(t.Context(), pending)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := a.Get(asked.Options)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = n.SecondStep(t.Context(), pending, Proof{Passkey: answer}, here)
			return err
		}
		if err := show(key); err != nil {
			t.Error(err)
		}
		if err := show(bobs); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the passkey of another user: %v", err)
		}
		if f, err := n.AskedFactors(t.Context(), n.firstStep(t, "ann")); err != nil || f.Passkeys != 1 || f.App {
			t.Errorf("asked for %+v, %v", f, err)
		}
		list, err := n.Passkeys(n.as(t, "ann"))
		if err != nil {
			t.Fatal(err)
		}
		if err := n.RemovePasskey(n.as(t, "bob"), list[0].ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("bob removes it: %v", err)
		}
		if err := n.RemovePasskey(n.as(t, "ann"), list[0].ID); err != nil {
			t.Fatal(err)
		}
		if u, err := n.User(t.Context(), "ann"); err != nil || u.Factors != (Factors{}) {
			t.Errorf("%+v, %v", u.Factors, err)
		}
	})
}

func TestPasskeysThatAreNotRegistered(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		ctx := n.as(t, "ann")
		for name, c := range map[string]struct {
			origin, called string
			change         func(answer []byte) []byte
			late           time.Duration
			says           string
		}{
			"no name":       {origin: passkeyOrigin, says: "Give the passkey a name"},
			"another page":  {origin: "https://evil.test", called: "x", says: "does not fit"},
			"no answer":     {origin: passkeyOrigin, called: "x", change: func([]byte) []byte { return nil }, says: "does not fit"},
			"a cut answer":  {origin: passkeyOrigin, called: "x", change: func(b []byte) []byte { return b[:len(b)/2] }, says: "does not fit"},
			"took too long": {origin: passkeyOrigin, called: "x", late: stepLife, says: "took too long"},
		} {
			asked, err := n.NewPasskey(n.as(t, "ann"))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := (&passkeytest.Authenticator{Origin: c.origin}).Create(asked.Options)
			if err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				answer = c.change(answer)
			}
			n.move(c.late)
			if _, err := n.AddPasskey(n.as(t, "ann"), c.called, asked.Name, answer); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if f, err := n.Factors(ctx); err != nil || f.On() {
			t.Errorf("%+v, %v", f, err)
		}
	})
}

// Browsers have passkeys for host names over https, and on localhost.
func TestWherePasskeysAre(t *testing.T) {
	for base, why := range map[string]string{
		"https://outrigger.test":       "",
		"https://tools.test/outrigger": "",
		"http://localhost:8090":        "",
		"http://outrigger.test":        "over https only",
		"http://127.0.0.1:8090":        "bind passkeys to a host name",
		"https://[2001:db8::1]":        "bind passkeys to a host name",
	} {
		s := New(nil, Options{})
		if err := s.UsePasskeys(base); err != nil {
			t.Fatal(err)
		}
		if got := s.NoPasskeys(); (got == "") != (why == "") || !strings.Contains(got, why) {
			t.Errorf("%s: %q", base, got)
		}
		if why == "" {
			continue
		}
		if _, err := s.BeginPasskeySignIn(t.Context(), here); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", base, err)
		}
	}
}

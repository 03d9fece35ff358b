package identity

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// What a disabled user has is refused on every node as if it were not there, and
// the tokens and the password work again once they are enabled; sessions do not.
func TestDisabledUser(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		ctx := t.Context()
		n.mustCreate(t, "ann")
		n.mustGrant(t, "ann", Admin, Resource{})
		token, made, err := n.CreateToken(ctx, "ann", "ci", All, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		session, _, err := n.SignIn(ctx, "ann", goodPassword, here)
		if err != nil {
			t.Fatal(err)
		}
		other := newNode(t, n.db, n.clock)
		doors := func(n node) map[string]func() (*Principal, error) {
			return map[string]func() (*Principal, error){
				"password": func() (*Principal, error) { return n.Basic(ctx, "ann", goodPassword, here) },
				"SMTP":     func() (*Principal, error) { return n.Basic(ctx, "ann", token.Reveal(), here) },
				"token":    func() (*Principal, error) { return n.Bearer(ctx, token.Reveal()) },
				"session":  func() (*Principal, error) { return n.Session(ctx, session) },
				"sign-in":  func() (*Principal, error) { _, p, err := n.SignIn(ctx, "ann", goodPassword, here); return p, err },
			}
		}
		for _, n := range []node{n, other} {
			for name, ask := range doors(n) {
				if p, err := ask(); err != nil || !p.May(Admin, Resource{}) {
					t.Fatalf("%s before: %+v, %v", name, p, err)
				}
			}
		}
		if err := n.DisableUser(ctx, "ANN"); err != nil {
			t.Fatal(err)
		}
		_, wrong := n.Basic(ctx, "nobody", goodPassword, "192.0.2.77")
		refused := func(when string, n node) {
			t.Helper()
			for name, ask := range doors(n) {
				if p, err := ask(); !fault.Is(err, fault.Unauthenticated) || err.Error() != wrong.Error() {
					t.Errorf("%s, %s: %+v, %v", when, name, p, err)
				}
			}
		}
		refused("here at once", n)
		n.move(freshness)
		refused("on another node within half a second", other)
		if u, err := n.User(ctx, "ann"); err != nil || !u.Disabled() || len(u.Grants) != 1 {
			t.Errorf("the user is %+v, %v", u, err)
		}
		if _, err := n.TokenByID(ctx, made.ID); err != nil {
			t.Errorf("the token: %v", err)
		}
		if sessions, err := n.Sessions(ctx, "ann", 0, 10); err != nil || len(sessions) != 0 {
			t.Errorf("sessions %+v, %v", sessions, err)
		}

		if _, err := n.EnableUser(ctx, "ann", []int64{made.ID}); err != nil {
			t.Fatal(err)
		}
		for name, ask := range doors(n) {
			if p, err := ask(); name != "session" && (err != nil || !p.May(Admin, Resource{})) {
				t.Errorf("%s after: %+v, %v", name, p, err)
			} else if name == "session" && !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("a session came back: %+v, %v", p, err)
			}
		}
		trail := n.trail(t)
		for _, want := range []string{`["","disable","user","ann"]{}{}`, `["","enable","user","ann"]{}{}`} {
			if !slices.Contains(trail, want) {
				t.Errorf("%s is not in the audit trail: %s", want, strings.Join(trail, "\n"))
			}
		}
	})
}

// Enabling a user ends the tokens from before but those that are kept; two who enable
// at once do not undo each other, and a token of another user keeps nothing.
func TestEnablingEndsTokens(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		ctx := t.Context()
		var plain []secret.Value
		var ids []int64
		n.mustCreate(t, "bea")
		_, other, err := n.CreateToken(ctx, "bea", "hers", All, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		n.mustCreate(t, "ann")
		for i := range 10 {
			p, made, err := n.CreateToken(ctx, "ann", "t", Scopes()[i%len(Scopes())], time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			plain, ids = append(plain, p), append(ids, made.ID)
		}
		if err := n.DisableUser(ctx, "ann"); err != nil {
			t.Fatal(err)
		}
		for _, id := range []int64{other.ID, 4711, 0, -1} {
			if _, err := n.EnableUser(ctx, "ann", []int64{ids[0], id}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "has no token") {
				t.Errorf("keeping the token %d: %v", id, err)
			}
		}
		if u, err := n.User(ctx, "ann"); err != nil || !u.Disabled() {
			t.Fatalf("a refusal enabled the user: %+v, %v", u, err)
		}
		for again, want := range []int{8, 0} {
			if ended, err := n.EnableUser(ctx, "ann", []int64{ids[2], ids[5], ids[5]}); err != nil || ended != want {
				t.Errorf("time %d ended %d, %v", again, ended, err)
			}
		}
		for i, p := range plain {
			if _, err := n.Bearer(ctx, p.Reveal()); (err == nil) != (i == 2 || i == 5) {
				t.Errorf("token %d: %v", i, err)
			}
		}
		if _, err := n.TokenByID(ctx, other.ID); err != nil {
			t.Errorf("another user's: %v", err)
		}
		if want := `["","revoke","tokens",""]{"tokens":"8","user":"ann"}{}`; !slices.Contains(n.trail(t), want) {
			t.Errorf("the trail has %q", n.trail(t))
		}
	})
}

// A failed sign-in of a disabled user counts as one with a wrong password does.
func TestSignInsOfADisabledUserAreCounted(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		if err := n.DisableUser(t.Context(), "ann"); err != nil {
			t.Fatal(err)
		}
		var err error
		for range pairLimit().failures {
			_, err = n.Basic(t.Context(), "ann", goodPassword, here)
		}
		if !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the last attempt: %v", err)
		}
		if _, err := n.Basic(t.Context(), "ann", goodPassword, here); !fault.Is(err, fault.RateLimited) {
			t.Errorf("one more: %v", err)
		}
	})
}

func TestSomebodyMustRemain(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		ctx := t.Context()
		ids := map[string]int64{}
		for _, name := range []string{"ann", "bob", "carl"} {
			ids[name] = n.mustCreate(t, name).ID
		}
		ann, bob := n.mustGrant(t, "ann", SysAdmin, Resource{}), n.mustGrant(t, "bob", SysAdmin, Resource{})
		asAnn := With(ctx, &Principal{UserID: ids["ann"], Name: "ann", Source: Local})
		if err := n.DisableUser(asAnn, "ann"); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "your own") {
			t.Errorf("disabling oneself: %v", err)
		}
		if err := n.DisableUser(asAnn, "nobody"); !fault.Is(err, fault.NotFound) {
			t.Errorf("disabling a stranger: %v", err)
		}
		for range 2 { // again is no error, and no entry
			if err := n.DisableUser(asAnn, "bob"); err != nil {
				t.Fatal(err)
			}
		}
		entries := 0
		for _, line := range n.trail(t) {
			if strings.Contains(line, `"disable"`) {
				entries++
			}
		}
		if entries != 1 {
			t.Errorf("%d entries of one disabling", entries)
		}
		for what, err := range map[string]error{
			"disabling": n.DisableUser(ctx, "ann"), "deleting": n.DeleteUser(ctx, "ann"), "revoking": n.Revoke(ctx, "ann", ann.ID),
		} {
			if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "last enabled user") {
				t.Errorf("%s the last: %v", what, err)
			}
		}
		if err := n.DisableUser(ctx, "carl"); err != nil {
			t.Errorf("disabling one who may do nothing: %v", err)
		}
		if err := n.Revoke(ctx, "bob", bob.ID); err != nil {
			t.Errorf("revoking from a disabled user: %v", err)
		}
	})
}

// Two administrators who disable each other at once: one of them stays.
func TestTwoWhoDisableEachOther(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		for _, name := range []string{"ann", "bob"} {
			n.mustCreate(t, name)
			n.mustGrant(t, name, SysAdmin, Resource{})
		}
		var wg sync.WaitGroup
		errs := make([]error, 2)
		wg.Go(func() { errs[0] = n.DisableUser(t.Context(), "bob") })
		wg.Go(func() { errs[1] = n.DisableUser(t.Context(), "ann") })
		wg.Wait()
		if fault.CodeOf(errs[0])+fault.CodeOf(errs[1]) != fault.Conflict {
			t.Errorf("two who disable each other: %v", errs)
		}
	})
}

// A disabled user of the platform is refused with the right password, also under
// a name that the platform has begun to write in another case.
func TestDisabledPlatformUser(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		s := withPlatform(n)
		if _, err := n.Basic(t.Context(), "bob", "bob's password", here); err != nil {
			t.Fatal(err)
		}
		if err := n.DisableUser(t.Context(), "main:bob"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"bob", "BOB"} {
			s.users = map[string]string{name: "bob's password"}
			if p, err := n.Basic(t.Context(), name, "bob's password", here); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s is %+v, %v", name, p, err)
			}
		}
		if _, err := n.EnableUser(t.Context(), "main:bob", nil); err != nil {
			t.Fatal(err)
		}
		s.users = map[string]string{"bob": "bob's password"}
		if _, err := n.Basic(t.Context(), "bob", "bob's password", here); err != nil {
			t.Errorf("after enabling: %v", err)
		}
	})
}

func TestLastSignIn(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		ctx := t.Context()
		n.mustCreate(t, "ann")
		wants := func(when string, want time.Time) {
			t.Helper()
			if u, err := n.User(ctx, "ann"); err != nil || !u.SignedInAt.Equal(want) {
				t.Errorf("%s: %s, want %s, %v", when, u.SignedInAt, want, err)
			}
		}
		wants("never", time.Time{})
		if _, err := n.Basic(ctx, "ann", goodPassword, here); err != nil {
			t.Fatal(err)
		}
		wants("by Basic", n.now())
		n.move(time.Hour)
		if _, err := n.Basic(ctx, "ann", "wrong password", "192.0.2.9"); err == nil {
			t.Fatal("the wrong password is right")
		}
		wants("after a failure", n.now().Add(-time.Hour))
		if _, _, err := n.SignIn(ctx, "ann", goodPassword, here); err != nil {
			t.Fatal(err)
		}
		wants("in the console", n.now())
		if err := n.SetPassword(ctx, "ann", secret.New("another password")); err != nil {
			t.Fatal(err)
		}
		wants("after a change", n.now())
	})
}

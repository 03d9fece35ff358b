package identity

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// With a platform, whose users single sign-on names, a sign-in with the platform's
// password counts too.
func TestIdleUsersOfAPlatform(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := new(company)
		n.UseDirectory("main", everybody{})
		n.UseSignInProvider(SignInProvider{ID: "oidc", Name: "the company", Source: "main", Provider: c})
		n.UseIdle("main", idleAfter)
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		n.signOn(t, c, "ann")
		n.signOn(t, c, "bob")
		n.signOn(t, c, "dan")
		phone, _ := n.mustUseApp(t, "main:dan")
		if _, _, err := n.SignIn(t.Context(), "cid", goodPassword, here); err != nil { // never by single sign-on
			t.Fatal(err)
		}
		ann, bob, cid := n.mustMakeToken(t, "main:ann", All), n.mustMakeToken(t, "main:bob", Read), n.mustMakeToken(t, "main:cid", All)
		dan := n.mustMakeToken(t, "main:dan", All)
		refused := func(when string, want map[string]bool) {
			t.Helper()
			for token, refused := range want {
				if _, err := n.Bearer(t.Context(), token); refused != fault.Is(err, fault.Forbidden) {
					t.Errorf("%s: %v", when, err)
				}
			}
		}
		n.move(idleAfter)
		refused("30 days later", map[string]bool{ann: true, bob: true, cid: false, dan: true})
		if _, err := n.Basic(t.Context(), "ann", goodPassword, here); err != nil {
			t.Fatal(err)
		}
		refused("ann has signed in by password", map[string]bool{ann: false, bob: true, cid: false})
		if _, err := n.Basic(WithCode(t.Context(), secret.New("000000")), "dan", goodPassword, here); err == nil {
			t.Fatal("any code will do")
		}
		refused("dan's second factor was wrong", map[string]bool{dan: true})
		if _, err := n.Basic(WithCode(t.Context(), phone.code(t, 0)), "dan", goodPassword, here); err != nil {
			t.Fatal(err)
		}
		refused("dan has signed in with the second factor too", map[string]bool{dan: false})
		n.signOn(t, c, "bob")
		refused("bob with the company", map[string]bool{ann: false, bob: false, cid: false})
	})
}

// A sign-in on one node lifts the pause on others within a second.
func TestAPauseEndsOnEveryNode(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clock, c := newClock(), new(company)
		one := idleNode(t, newNode(t, d, clock), c, idleAfter)
		two := idleNode(t, newNode(t, d, clock), c, idleAfter)
		var tokens []string
		for i := range 10 {
			one.signOn(t, c, fmt.Sprintf("ann-%d", i))
			tokens = append(tokens, one.mustMakeToken(t, fmt.Sprintf("oidc:ann-%d", i), All))
		}
		one.move(idleAfter)
		works := func(when string, want bool, nodes ...node) {
			t.Helper()
			for i, n := range nodes {
				for _, token := range tokens {
					if _, err := n.Bearer(t.Context(), token); want != (err == nil) {
						t.Errorf("%s, node %d: %v", when, i, err)
					}
				}
			}
		}
		works("paused", false, one, two)
		for i := range 10 {
			two.signOn(t, c, fmt.Sprintf("ann-%d", i))
		}
		works("at once", true, two)
		one.move(freshness)
		works("half a second later", true, one, two)
	}, secret.Migrations, audit.Migrations, Migrations)
}

// The time is counted from the first start that has the setting; a restart does not
// move that, and a clock that was ahead then does not last.
func TestFromWhenIdleUsersAreCounted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clock, c := newClock(), new(company)
		before := newNode(t, d, clock)
		before.useCompany(c)
		var tokens []string
		for i := range 10 {
			before.signOn(t, c, fmt.Sprintf("ann-%d", i))
			tokens = append(tokens, before.mustMakeToken(t, fmt.Sprintf("oidc:ann-%d", i), All))
		}
		paused := func(when string, n node, want bool) {
			t.Helper()
			for _, token := range tokens {
				if _, err := n.Bearer(t.Context(), token); want != fault.Is(err, fault.Forbidden) {
					t.Errorf("%s: %v", when, err)
				}
			}
		}
		clock.move(400 * day)
		n := idleNode(t, newNode(t, d, clock), c, idleAfter)
		paused("upgraded", n, false)
		clock.move(idleAfter - time.Microsecond)
		n = idleNode(t, newNode(t, d, clock), c, idleAfter)
		paused("restarted", n, false)
		clock.move(time.Microsecond)
		paused("30 days after the upgrade", n, true)
		paused("restarted after that", idleNode(t, newNode(t, d, clock), c, idleAfter), true)

		off := newNode(t, d, clock)
		off.useCompany(c)
		if err := off.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		paused("turned off", off, false)
		n = idleNode(t, newNode(t, d, clock), c, idleAfter)
		paused("turned on again", n, false)
		clock.move(idleAfter)
		paused("30 days after that", n, true)

		if err := off.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		clock.move(5000 * day)
		idleNode(t, newNode(t, d, clock), c, idleAfter)
		clock.move(-5000 * day)
		n = idleNode(t, newNode(t, d, clock), c, idleAfter)
		clock.move(idleAfter)
		paused("30 days after a start with a clock that was ahead", n, true)
	}, secret.Migrations, audit.Migrations, Migrations)
}

// A paused administrator is none of those of whom one has to stay, and signs in
// again by themselves.
func TestAPausedAdministrator(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := new(company)
		n = idleNode(t, n, c, idleAfter)
		n.signOn(t, c, "ann")
		if _, err := n.Grant(t.Context(), "oidc:ann", SysAdmin, Resource{}); err != nil {
			t.Fatal(err)
		}
		for _, when := range []string{"before", "while paused"} {
			for what, err := range map[string]error{
				"disable": n.DisableUser(t.Context(), "admin"), "delete": n.DeleteUser(t.Context(), "admin"),
			} {
				if !fault.Is(err, fault.Conflict) {
					t.Errorf("%s the last local administrator, %s: %v", what, when, err)
				}
			}
			n.move(idleAfter)
		}
		if p, err := n.Session(t.Context(), n.signOn(t, c, "ann")); err != nil || !p.May(SysAdmin, Resource{}) {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

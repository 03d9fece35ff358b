package identity

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

func TestTokens(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "Ann")
		token, made, err := n.CreateToken(t.Context(), "ANN", "nightly", Builds, n.now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`^otr_[A-Za-z0-9_-]{43}$`).MatchString(token.Reveal()) {
			t.Errorf("a token of %d characters", len(token.Reveal()))
		}
		var stored []byte
		err = n.db.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT hash FROM identity_tokens`).Scan(&stored)
		})
		if err != nil || len(stored) != 32 || strings.Contains(string(stored), token.Reveal()) {
			t.Errorf("stored is %x, %v", stored, err)
		}
		p, err := n.Bearer(t.Context(), token.Reveal())
		if err != nil || p.Name != "Ann" || p.Scope != Builds || p.Token != made.ID {
			t.Errorf("%+v, %v", p, err)
		}
		tokens, err := n.Tokens(t.Context(), "ann", 0, 10)
		want := []Token{{ID: made.ID, UserID: p.UserID, User: "Ann", Name: "nightly", Scope: Builds, CreatedAt: n.now(), ExpiresAt: n.now().Add(time.Hour), UsedAt: n.now()}}
		if d := cmp.Diff(want, tokens); err != nil || d != "" {
			t.Errorf("%v %s", err, d)
		}
		n.move(59*time.Minute + 59*time.Second)
		if _, err := n.Bearer(t.Context(), token.Reveal()); err != nil {
			t.Errorf("before it expires: %v", err)
		}
		n.move(time.Second) // what is remembered of it is not asked
		for _, wrong := range []string{token.Reveal(), token.Reveal() + "x", "otr_", "", "x"} {
			if _, err := n.Bearer(t.Context(), wrong); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%.6s: %v", wrong, err)
			}
		}
	})
}

func TestLastUseIsToTheMinute(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		token, made, err := n.CreateToken(t.Context(), "ann", "x", All, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		start := n.now()
		for _, c := range []struct {
			move time.Duration
			want time.Duration
		}{{0, 0}, {time.Second, 0}, {58 * time.Second, 0}, {time.Second, time.Minute}, {time.Second, time.Minute}, {time.Hour, time.Hour + 61*time.Second}} {
			n.move(c.move)
			if _, err := n.Bearer(t.Context(), token.Reveal()); err != nil {
				t.Fatal(err)
			}
			if got, err := n.TokenByID(t.Context(), made.ID); err != nil || got.UsedAt.Sub(start) != c.want {
				t.Errorf("after %v: used at %v, want %v", n.now().Sub(start), got.UsedAt.Sub(start), c.want)
			}
		}
	})
}

func TestCreateTokenRefuses(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		for _, c := range []struct {
			user, name string
			scope      Scope
			expires    time.Time
			code       fault.Code
			fields     int
		}{
			{"nobody", "x", All, time.Time{}, fault.NotFound, 0},
			{"ann", "", All, time.Time{}, fault.Invalid, 1},
			{"ann", strings.Repeat("x", 256), All, time.Time{}, fault.Invalid, 1},
			{"ann", "x\n", All, time.Time{}, fault.Invalid, 1},
			{"ann", "x", "everything", time.Time{}, fault.Invalid, 1},
			{"ann", "x", All, n.now(), fault.Invalid, 1},
			{"ann", "", "", n.now().Add(-time.Hour), fault.Invalid, 3},
		} {
			plain, _, err := n.CreateToken(t.Context(), c.user, c.name, c.scope, c.expires)
			if e := fault.As(err); e == nil || e.Code != c.code || len(e.Fields) != c.fields || !plain.IsZero() {
				t.Errorf("%+v: %v", c, err)
			}
		}
		if err := n.RevokeToken(t.Context(), 4711); !fault.Is(err, fault.NotFound) {
			t.Errorf("revoking what is not there: %v", err)
		}
	})
}

// What mail and monitoring are for needs ADMIN, or such a token: only who has ADMIN
// makes one. An administrator may make one for a user who has nothing, and it works
// on when ADMIN is taken back.
func TestTokensOfMailAndMonitoringNeedAdmin(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		repository := Resource{Connection: "git", Project: "ATL", Repository: "canoe"}
		for user, c := range map[string]struct {
			grant Permission
			at    Resource
			may   bool
		}{
			"nobody": {}, "repository": {grant: RepoAdmin, at: repository}, "project": {grant: ProjectAdmin, at: Resource{Connection: "git", Project: "ATL"}},
			"global": {grant: Admin, may: true}, "root": {grant: SysAdmin, may: true},
		} {
			n.mustCreate(t, user)
			var grant Grant
			if c.grant != "" {
				grant = n.mustGrant(t, user, c.grant, c.at)
			}
			p, err := n.Basic(t.Context(), user, goodPassword, here)
			if err != nil {
				t.Fatal(err)
			}
			made := map[Scope]string{}
			for _, scope := range Scopes() {
				token, _, err := n.CreateToken(With(t.Context(), p), user, "x", scope, time.Time{})
				if scope != Mail && scope != Monitoring || c.may {
					if err != nil {
						t.Errorf("%s makes a token of scope %s: %v", user, scope, err)
					}
					made[scope] = token.Reveal()
				} else if !fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), "ADMIN") || !token.IsZero() {
					t.Errorf("%s makes a token of scope %s: %v", user, scope, err)
				}
			}
			if user != "global" {
				continue
			}
			if err := n.Revoke(t.Context(), user, grant.ID); err != nil {
				t.Fatal(err)
			}
			if p, err := n.Bearer(t.Context(), made[Mail]); err != nil || p.Scope != Mail {
				t.Errorf("the token of who is no administrator any more: %+v, %v", p, err)
			}
		}
		root, err := n.Basic(t.Context(), "root", goodPassword, here)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := n.CreateToken(With(t.Context(), root), "nobody", "x", Mail, time.Time{}); err != nil {
			t.Errorf("for a user who has nothing: %v", err)
		}
	})
}

func TestSessions(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		sign := func() (string, int64) {
			t.Helper()
			session, p, err := n.SignIn(t.Context(), "ANN", goodPassword, here)
			if err != nil || p.Name != "ann" || p.Session == 0 {
				t.Fatalf("%+v, %v", p, err)
			}
			return session, p.Session
		}
		holds := func(session string) bool {
			t.Helper()
			p, err := n.Session(t.Context(), session)
			if err != nil && !fault.Is(err, fault.Unauthenticated) {
				t.Fatal(err)
			}
			return err == nil && p.Name == "ann" && p.Session != 0 && p.Scope == All
		}
		used, usedID := sign()
		idle, _ := sign()
		barely, _ := sign()
		watched, _ := sign() // by a page that stays open
		follows := func() bool {
			_, err := n.Session(Unattended(t.Context()), watched)
			return err == nil
		}
		if used == idle || !holds(used) || holds("") || holds("x") {
			t.Fatal("sessions do not hold as they should")
		}
		// A session that is used lives a week, one that is not eight hours.
		for hour := 1; hour < int(sessionLife.Hours()); hour++ {
			n.move(time.Hour - time.Second)
			if hour == int(sessionIdle.Hours()) && !holds(barely) {
				t.Error("a session that was just used in time ended")
			}
			n.move(time.Second)
			if hour == int(sessionIdle.Hours()) && holds(idle) {
				t.Error("an idle session holds")
			}
			if follows() != (hour < int(sessionIdle.Hours())) {
				t.Fatalf("a session that only an open page uses holds after %d hours: %t", hour, follows())
			}
			if !holds(used) {
				t.Fatalf("a session in use ended after %d hours", hour)
			}
		}
		if list, err := n.Sessions(t.Context(), "ann", 0, 10); err != nil || len(list) != 1 || list[0].ID != usedID || list[0].Address != here {
			t.Errorf("the list has %+v, %v", list, err)
		}
		n.move(time.Hour)
		if holds(used) {
			t.Error("a session holds for more than a week")
		}
		// The next sign-in clears up.
		ended, endedID := sign()
		signedOut, _ := sign()
		var count int
		err := n.db.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM identity_sessions`).Scan(&count)
		})
		if err != nil || count != 2 {
			t.Errorf("%d sessions are stored, %v", count, err)
		}
		if err := n.EndSession(t.Context(), endedID); err != nil || holds(ended) {
			t.Errorf("an ended session: %v", err)
		}
		if err := n.EndSession(t.Context(), endedID); !fault.Is(err, fault.NotFound) {
			t.Errorf("ending it again: %v", err)
		}
		for range 2 {
			if err := n.SignOut(t.Context(), signedOut); err != nil || holds(signedOut) {
				t.Errorf("signing out: %v", err)
			}
		}
	})
}

// Of all sessions of a user, one can be kept; those of others and tokens stay.
func TestEndSessions(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		n.mustCreate(t, "bob")
		sign := func(user, userAgent string) (string, int64) {
			t.Helper()
			ctx := WithCaller(t.Context(), &Caller{Origin: Origin{UserAgent: userAgent}})
			session, p, err := n.SignIn(ctx, user, goodPassword, here)
			if err != nil {
				t.Fatal(err)
			}
			return session, p.Session
		}
		const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
		_, mine := sign("ann", firefox)
		other, _ := sign("ann", "")
		bobs, _ := sign("bob", "")
		list, err := n.Sessions(t.Context(), "ann", 0, 10)
		if err != nil || len(list) != 2 || list[0].Browser != "Firefox on Linux" || list[1].Browser != "" {
			t.Errorf("the sessions are %+v, %v", list, err)
		}
		for _, want := range []int{1, 0} {
			if ended, err := n.EndSessions(t.Context(), "ann", mine); err != nil || ended != want {
				t.Errorf("%d sessions ended, %v, want %d", ended, err, want)
			}
		}
		if _, err := n.Session(t.Context(), other); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the other session: %v", err)
		}
		if list, err := n.Sessions(t.Context(), "ann", 0, 10); err != nil || len(list) != 1 || list[0].ID != mine {
			t.Errorf("left are %+v, %v", list, err)
		}
		if _, err := n.Session(t.Context(), bobs); err != nil {
			t.Errorf("the session of another user: %v", err)
		}
		if _, err := n.EndSessions(t.Context(), "nobody", 0); !fault.Is(err, fault.NotFound) {
			t.Errorf("sessions of a user who does not exist: %v", err)
		}
	})
}

func TestRevokeTokens(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		n.mustCreate(t, "bob")
		plain := map[string]string{}
		for _, user := range []string{"ann", "ann", "bob"} {
			token, _, err := n.CreateToken(t.Context(), user, "ci", All, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			plain[user] = token.Reveal()
		}
		for _, want := range []int{2, 0} {
			if revoked, err := n.RevokeTokens(t.Context(), "ann"); err != nil || revoked != want {
				t.Errorf("%d tokens revoked, %v, want %d", revoked, err, want)
			}
		}
		if _, err := n.Bearer(t.Context(), plain["ann"]); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a revoked token: %v", err)
		}
		if _, err := n.Bearer(t.Context(), plain["bob"]); err != nil {
			t.Errorf("the token of another user: %v", err)
		}
	})
}

// TestOwnSessionSurvives: who changes their password stays signed in here, and
// nowhere else.
func TestOwnSessionSurvives(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		mine, p, err := n.SignIn(t.Context(), "ann", goodPassword, here)
		if err != nil {
			t.Fatal(err)
		}
		other, _, err := n.SignIn(t.Context(), "ann", goodPassword, here)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.SetPassword(With(t.Context(), p), "ann", secret.New("another password")); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Session(t.Context(), mine); err != nil {
			t.Errorf("the own session: %v", err)
		}
		if _, err := n.Session(t.Context(), other); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the other session: %v", err)
		}
	})
}

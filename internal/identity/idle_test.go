package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

const (
	day       = 24 * time.Hour
	idleAfter = 30 * day
)

// idleNode is a node whose users of the company are paused after idleAfter, which
// has started.
func idleNode(t *testing.T, n node, c *company, after time.Duration) node {
	t.Helper()
	n.UseSignInProvider(SignInProvider{ID: "oidc", Name: "the company", Source: SingleSignOn, Provider: c, Page: "https://outrigger.test/sign-in/oidc"})
	n.UseGroups(SingleSignOn, []string{"admins"})
	n.UseIdle(SingleSignOn, after)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n
}

// signOn signs a user of the company in, and returns the session.
func (n node) signOn(t *testing.T, c *company, name string, groups ...string) string {
	t.Helper()
	c.account = Account{Name: name, Subject: "subject of " + name, Groups: groups}
	browser := BrowserSecret()
	session, _, err := n.CompleteSignIn(t.Context(), "oidc", browser, Answer{State: n.begin(t, browser, here), Code: secret.New("code")}, here)
	if err != nil {
		t.Fatalf("%s signs in: %v", name, err)
	}
	return session
}

func (n node) mustMakeToken(t *testing.T, ref string, scope Scope) string {
	t.Helper()
	token, _, err := n.CreateToken(t.Context(), ref, "for "+string(scope), scope, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return token.Reveal()
}

// everybody is a platform that has every user, with any password.
type everybody struct{}

func (everybody) SignIn(_ context.Context, name, _ string) (DirectoryUser, error) {
	return DirectoryUser{Name: name}, nil
}

func (everybody) CurrentGrants(context.Context, string, []Grant) ([]Grant, error) { return nil, nil }

// goesOn reports whether tokens of the scope work on while their owner is paused.
func goesOn(scope Scope) bool { return scope == Mail || scope == Builds || scope == Monitoring }

// idleKind is a kind of user, of which there are ten.
type idleKind struct {
	kind   string
	source string
	groups []string
	grant  Permission
	pauses bool
}

var idleKinds = []idleKind{
	{"local", Local, nil, "", false},
	{"local-root", Local, nil, SysAdmin, false},
	{"sso", SingleSignOn, nil, "", true},
	{"sso-granted", SingleSignOn, nil, Admin, true},
	{"sso-root", SingleSignOn, nil, SysAdmin, true},
	{"sso-groups", SingleSignOn, []string{"admins"}, "", true},
	{"sso-both", SingleSignOn, []string{"admins"}, Admin, true},
	{"platform", "main", nil, Admin, false},
}

// pausingKinds of them pause, and of ten tokens, one a user, machinesTokens work on.
const pausingKinds, machinesTokens = 5, 4

// idleUser is a user with a token.
type idleUser struct {
	ref    string
	pauses bool
	scope  Scope
	token  string
}

// idleWorld is users of all kinds.
type idleWorld struct {
	node
	t   *testing.T
	all []idleUser
}

func (w *idleWorld) add(c *company, k idleKind, i int) {
	w.t.Helper()
	name := fmt.Sprintf("%s-%d", k.kind, i)
	switch k.source {
	case Local:
		w.mustCreate(w.t, name)
	case SingleSignOn:
		w.signOn(w.t, c, name, k.groups...)
	default:
		if _, _, err := w.SignIn(w.t.Context(), name, goodPassword, here); err != nil {
			w.t.Fatal(err)
		}
	}
	ref := refOf(k.source, name)
	if k.grant != "" {
		if _, err := w.Grant(w.t.Context(), ref, k.grant, Resource{}); err != nil {
			w.t.Fatal(err)
		}
	}
	scope := Scopes()[i%len(Scopes())]
	w.all = append(w.all, idleUser{ref, k.pauses, scope, w.mustMakeToken(w.t, ref, scope)})
}

// check holds every user, and every token, against whether the time is over.
func (w *idleWorld) check(when string, over bool) {
	w.t.Helper()
	for _, u := range w.all {
		_, err := w.Bearer(w.t.Context(), u.token)
		if refused := over && u.pauses && !goesOn(u.scope); refused != (err != nil) || refused && !fault.Is(err, fault.Forbidden) {
			w.t.Errorf("%s, %s, scope %s: %v", when, u.ref, u.scope, err)
		} else if refused && !strings.Contains(err.Error(), "Sign in again at https://outrigger.test/sign-in/oidc") {
			w.t.Errorf("%s, %s is not told where to sign in: %v", when, u.ref, err)
		}
		if found, err := w.User(w.t.Context(), u.ref); err != nil || found.Pause.Begun != (over && u.pauses) {
			w.t.Errorf("%s: %s, %+v, %v", when, u.ref, found.Pause, err)
		}
		list, err := w.Tokens(w.t.Context(), u.ref, 0, 10)
		if err != nil || len(list) != 1 || list[0].PausedSince.IsZero() != (!over || !u.pauses || goesOn(u.scope)) {
			w.t.Errorf("%s, listed is %+v, %v", when, list, err)
		}
	}
	going, err := w.PausedTokens(w.t.Context())
	if want := map[bool]int{true: pausingKinds * machinesTokens}[over]; err != nil || len(going) != want {
		w.t.Errorf("%s, %d tokens of paused users go on, want %d: %v", when, len(going), want, err)
	}
}

// near checks who is said to be paused soon.
func (w *idleWorld) near(when string, want bool) {
	w.t.Helper()
	if soon, err := w.PausingUsers(w.t.Context(), 1000); err != nil || len(soon) != map[bool]int{true: 10 * pausingKinds}[want] {
		w.t.Errorf("%s, %d users are paused soon, %v", when, len(soon), err)
	}
	list, err := w.Users(w.t.Context(), "", 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, u := range list {
		if pauses := u.subject != ""; u.Pause.Near != (want && pauses) {
			w.t.Errorf("%s, %s: %+v", when, u.Ref(), u.Pause)
		}
	}
}

// Users of single sign-on who do not sign in are paused, others are not: grants of
// theirs give nothing, and of their tokens those of machines work on. The next
// sign-in ends it at once.
func TestIdleUsersArePaused(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := new(company)
		n.UseDirectory("main", everybody{})
		w := idleWorld{node: idleNode(t, n, c, idleAfter), t: t}
		for _, k := range idleKinds {
			for i := range 10 {
				w.add(c, k, i)
			}
		}
		w.check("at first", false)
		w.move(idleAfter - 7*day - time.Microsecond)
		w.near("a moment before 7 days before", false)
		w.move(time.Microsecond)
		w.near("7 days before", true)
		w.move(7*day - time.Microsecond)
		w.near("a moment before", true)
		w.check("a moment before", false)
		w.move(time.Microsecond)
		w.near("after it began", false)
		w.check("30 days later", true)
		w.move(-day)
		w.check("the clock goes back a day", false)
		w.move(1000 * day)
		w.check("it jumps ahead", true)
		w.move(-999 * day)
		w.check("and is right again", true)

		for _, k := range idleKinds {
			if k.source != SingleSignOn {
				continue
			}
			if err := n.DisableUser(t.Context(), "oidc:"+k.kind+"-9"); err != nil {
				t.Fatal(err)
			}
			for i := range 9 {
				session := n.signOn(t, c, fmt.Sprintf("%s-%d", k.kind, i), k.groups...)
				if p, err := n.Session(t.Context(), session); err != nil || p.May(Admin, Resource{}) != (k.grant != "" || k.groups != nil) {
					t.Errorf("%s has signed in again: %+v, %v", k.kind, p, err)
				}
			}
		}
		if going, err := n.PausedTokens(t.Context()); err != nil || len(going) != 0 {
			t.Errorf("all but disabled users have signed in, and %+v are of paused ones, %v", going, err)
		}
		w.all = slices.DeleteFunc(w.all, func(u idleUser) bool { return u.pauses && strings.HasSuffix(u.ref, "-9") })
		w.check("after the next sign-in", false)
	})
}

// A session that outlasts the time is refused as well, and says where to sign in.
func TestASessionPauses(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := new(company)
		n = idleNode(t, n, c, 2*day)
		var sessions []string
		for i := range 10 {
			sessions = append(sessions, n.signOn(t, c, fmt.Sprintf("ann-%d", i)))
		}
		for hour := 1; hour <= 50; hour++ {
			n.move(time.Hour)
			for i, session := range sessions {
				p, err := n.Session(t.Context(), session)
				switch paused := hour >= 48; {
				case paused && (!fault.Is(err, fault.Unauthenticated) || !strings.Contains(err.Error(), "Sign in again at")):
					t.Errorf("after %d hours, session %d: %v", hour, i, err)
				case !paused && (err != nil || p.Pause.Near != (hour >= 24)):
					t.Errorf("after %d hours, session %d: %+v, %v", hour, i, p, err)
				}
			}
		}
	})
}

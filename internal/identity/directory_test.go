package identity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// script answers as a platform that has the passwords; Present as rights say.
type script struct {
	users    map[string]string // password by name, as the platform writes it
	rights   map[string][]Grant
	away     error
	signIns  int
	presents int
}

func (s *script) SignIn(ctx context.Context, name, password string) (DirectoryUser, error) {
	s.signIns++
	if s.away != nil {
		return DirectoryUser{}, s.away
	}
	for is, right := range s.users {
		if strings.EqualFold(is, name) && right == password {
			return DirectoryUser{Name: is, Candidates: s.rights[is]}, nil
		}
	}
	return DirectoryUser{}, ErrUnauthenticated()
}

func (s *script) CurrentGrants(_ context.Context, name string, candidates []Grant) ([]Grant, error) {
	s.presents++
	if s.away != nil {
		return nil, s.away
	}
	if _, ok := s.users[name]; !ok {
		return nil, ErrUnauthenticated()
	}
	var has []Grant
	for _, g := range candidates {
		if slices.ContainsFunc(s.rights[name], g.sameAs) {
			has = append(has, g)
		}
	}
	return has, nil
}

var atATL = Resource{"main", "ATL", ""}

func withPlatform(n node) *script {
	s := &script{
		users:  map[string]string{"bob": "bob's password", "Ann": "ann's platform password"},
		rights: map[string][]Grant{"bob": {{Permission: ProjectAdmin, Resource: atATL}}},
	}
	n.UseDirectory("main", s)
	return s
}

func TestPlatformUserSignsIn(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		s := withPlatform(n)
		n.mustCreate(t, "ann")
		// The local user is first, and the platform's of that name does not sign in.
		if p, err := n.Basic(t.Context(), "ann", goodPassword, here); err != nil || p.Source != Local {
			t.Errorf("ann is %+v, %v", p, err)
		}
		if p, err := n.Basic(t.Context(), "Ann", "ann's platform password", here); !fault.Is(err, fault.Unauthenticated) || s.signIns != 0 {
			t.Errorf("the other ann is %+v, %v", p, err)
		}
		for range 3 { // the platform is asked once
			p, err := n.Basic(t.Context(), "BOB", "bob's password", here)
			if err != nil || p.Name != "bob" || p.Source != "main" || p.Ref() != "main:bob" || !p.May(RepoAdmin, Resource{"main", "atl", "canoe"}) || p.May(Admin, Resource{}) {
				t.Fatalf("bob is %+v, %v", p, err)
			}
		}
		if s.signIns != 1 || s.presents != 1 {
			t.Errorf("asked %d and %d times", s.signIns, s.presents)
		}
		_, unknown := n.Basic(t.Context(), "nobody", "bob's password", here)
		_, wrong := n.Basic(t.Context(), "bob", "another password", here)
		_, local := n.Basic(t.Context(), "ann", "another password", here)
		if !fault.Is(unknown, fault.Unauthenticated) || unknown.Error() != wrong.Error() || wrong.Error() != local.Error() {
			t.Errorf("answers %v, %v, %v", unknown, wrong, local)
		}
		asked := s.signIns
		for _, c := range [][2]string{{"main:bob", "bob's password"}, {"", "x"}, {"bob", ""}, {"bo\tb", "x"}, {strings.Repeat("b", maxName+1), "x"}} {
			if _, err := n.Basic(t.Context(), c[0], c[1], here); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%.20q: %v", c[0], err)
			}
		}
		if s.signIns != asked {
			t.Error("the platform is asked for what no user can be called")
		}
		n.move(rememberFor)
		s.users["bob"] = "changed on the platform"
		if _, err := n.Basic(t.Context(), "bob", "bob's password", here); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("with the old password: %v", err)
		}
		if trail := strings.Join(n.trail(t), "\n"); !strings.Contains(trail, `["bob","create","user","main:bob"]`) {
			t.Errorf("the audit trail is %s", trail)
		}
		if strings.Contains(n.log.String(), "bob's password") {
			t.Error("the log has a password")
		}
	})
}

// Why a password was not believed is in the log, and not in the answer, which counts
// as a wrong password.
func TestWhyThePlatformIsNotBelieved(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		s := withPlatform(n)
		_, wrong := n.Basic(t.Context(), "bob", "another password", here)
		s.away = fault.Wrap(errors.New("it answers to the proxy"), fault.Unauthenticated, "No.")
		if _, err := n.Basic(t.Context(), "bob", "bob's password", here); !fault.Is(err, fault.Unauthenticated) || err.Error() != wrong.Error() {
			t.Errorf("answers %v", err)
		}
		s.away = fault.New(fault.Unavailable, "It does not say to whom it answers.")
		if _, err := n.Basic(t.Context(), "bob", "bob's password", here); !fault.Is(err, fault.Unavailable) || strings.Contains(fault.As(err).Message, "to whom") {
			t.Errorf("answers %v", err)
		}
		for _, says := range []string{"it answers to the proxy", "It does not say to whom it answers."} {
			if strings.Count(n.log.String(), says) != 1 {
				t.Errorf("%q is not in the log once: %s", says, n.log)
			}
		}
	})
}

// What was lost on the platform is lost here within 60 s, in sessions and
// tokens too; while the platform is away, its users get 503 and local ones work.
func TestPresentRights(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		s := withPlatform(n)
		n.mustCreate(t, "ann")
		session, _, err := n.SignIn(t.Context(), "bob", "bob's password", here)
		if err != nil {
			t.Fatal(err)
		}
		token, _, err := n.CreateToken(t.Context(), "main:bob", "ci", All, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		n.mustGrant(t, "main:bob", RepoAdmin, Resource{"main", "PAC", "vault"})
		n.move(freshness)
		check := func(when string, want bool) {
			t.Helper()
			for name, ask := range map[string]func() (*Principal, error){
				"session": func() (*Principal, error) { return n.Session(t.Context(), session) },
				"token":   func() (*Principal, error) { return n.Bearer(t.Context(), token.Reveal()) },
				"basic":   func() (*Principal, error) { return n.Basic(t.Context(), "bob", token.Reveal(), here) },
			} {
				p, err := ask()
				if err != nil || p.May(ProjectAdmin, atATL) != want || !p.May(RepoAdmin, Resource{"main", "PAC", "vault"}) {
					t.Errorf("%s, %s: %+v, %v", when, name, p, err)
				}
			}
		}
		check("at first", true)
		was := s.rights["bob"]
		s.rights["bob"] = nil
		n.move(presentFor - time.Second)
		check("almost a minute later", true)
		n.move(time.Second)
		check("a minute later", false)
		s.rights["bob"] = was
		n.move(presentFor)
		check("given back", true)

		s.away = fault.New(fault.Unavailable, "The platform of main answers 500, with secrets of its own.")
		check("away, for now", true)
		n.move(presentFor)
		for name, err := range map[string]error{
			"session": second(n.Session(t.Context(), session)),
			"token":   second(n.Bearer(t.Context(), token.Reveal())),
			"basic":   second(n.Basic(t.Context(), "bob", "bob's password", here)),
			"unknown": second(n.Basic(t.Context(), "nobody", "bob's password", here)),
		} {
			if !fault.Is(err, fault.Unavailable) || strings.Contains(fault.As(err).Message, "secrets") {
				t.Errorf("%s while the platform is away: %v", name, err)
			}
		}
		if _, err := n.Basic(t.Context(), "ann", goodPassword, here); err != nil {
			t.Errorf("a local user while the platform is away: %v", err)
		}
		s.away = nil
		delete(s.users, "bob")
		for name, err := range map[string]error{
			"session": second(n.Session(t.Context(), session)), "token": second(n.Bearer(t.Context(), token.Reveal())),
		} {
			if !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s of a user whom the platform removed: %v", name, err)
			}
		}
		// Without the setting there are no platform users.
		s.users["bob"] = "bob's password"
		n.Service.platform = nil
		if _, err := n.Bearer(t.Context(), token.Reveal()); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("without identity.platform: %v", err)
		}
	})
}

func second(_ *Principal, err error) error { return err }

// Guesses at platform users are slowed down as those at local ones, and then
// do not reach the platform; what the platform does not answer is no guess.
func TestPlatformGuessesAreThrottled(t *testing.T) {
	n := newNode(t, openMigrated(t), newClock())
	s := withPlatform(n)
	s.away = fault.New(fault.Unavailable, "away")
	for range 40 {
		_, _ = n.Basic(t.Context(), "bob", "wrong password", here)
	}
	s.away = nil
	for i := range pairLimit().failures {
		if _, err := n.Basic(t.Context(), "bob", fmt.Sprint("wrong password ", i), here); !fault.Is(err, fault.Unauthenticated) {
			t.Fatalf("guess %d: %v", i, err)
		}
	}
	asked := s.signIns
	if _, err := n.Basic(t.Context(), "BOB", "bob's password", here); !fault.Is(err, fault.RateLimited) || s.signIns != asked {
		t.Errorf("after the guesses: %v", err)
	}
	if _, err := n.Basic(t.Context(), "bob", "bob's password", "198.51.100.1"); err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
}

func TestPlatformUsersAreKeptApart(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		s := withPlatform(n)
		n.mustCreate(t, "zoe")
		session, p, err := n.SignIn(t.Context(), "bob", "bob's password", here)
		if err != nil {
			t.Fatal(err)
		}
		n.mustCreate(t, "bob") // a local one of the same name, later
		token, made, err := n.CreateToken(t.Context(), p.Ref(), "mine", All, time.Time{})
		if err != nil || made.User != "main:bob" {
			t.Fatalf("%+v, %v", made, err)
		}
		if list, err := n.Tokens(t.Context(), "bob", 0, 10); err != nil || len(list) != 0 {
			t.Errorf("the local bob has %v, %v", list, err)
		}
		var refs []string
		for after := ""; ; {
			page, err := n.Users(t.Context(), after, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			after = page[0].Ref()
			refs = append(refs, after)
		}
		if got := strings.Join(refs, " "); got != "bob zoe main:bob" {
			t.Errorf("the users are %s", got)
		}
		if err := n.SetPassword(t.Context(), "main:bob", secret.New("staple horse battery")); !fault.Is(err, fault.Conflict) {
			t.Errorf("a password for a platform user: %v", err)
		}
		// A SYS_ADMIN of the platform cannot be the only one.
		n.mustGrant(t, "zoe", SysAdmin, Resource{})
		g := n.mustGrant(t, "main:bob", SysAdmin, Resource{})
		if err := n.DeleteUser(t.Context(), "zoe"); !fault.Is(err, fault.Conflict) {
			t.Errorf("deleting the last local SYS_ADMIN: %v", err)
		}
		if err := n.Revoke(t.Context(), "main:bob", g.ID); err != nil {
			t.Errorf("revoking that of a platform user: %v", err)
		}
		if err := n.DeleteUser(t.Context(), "main:bob"); err != nil {
			t.Fatal(err)
		}
		for name, err := range map[string]error{"session": second(n.Session(t.Context(), session)), "token": second(n.Bearer(t.Context(), token.Reveal()))} {
			if !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s of a deleted user: %v", name, err)
			}
		}
		if _, err := n.Basic(t.Context(), "bob", goodPassword, here); err != nil {
			t.Errorf("the local bob: %v", err)
		}

		// A name in another case is another user, who inherits nothing.
		eve, _, err := func() (string, *Principal, error) {
			s.users["eve"] = "eve's password"
			return n.SignIn(t.Context(), "eve", "eve's password", here)
		}()
		if err != nil {
			t.Fatal(err)
		}
		n.mustGrant(t, "main:eve", Admin, Resource{})
		delete(s.users, "eve")
		s.users["Eve"] = "the other's password"
		p, err = n.Basic(t.Context(), "Eve", "the other's password", here)
		if err != nil || p.Name != "Eve" || p.May(Admin, Resource{}) {
			t.Errorf("the other Eve is %+v, %v", p, err)
		}
		if _, err := n.Session(t.Context(), eve); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the session of the first: %v", err)
		}
	})
}

// A database that does not answer is not told as the platform not answering; the log has
// what is wrong with it.
func TestTheDatabaseIsNotThePlatform(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		s := withPlatform(n)
		_, p, err := n.SignIn(t.Context(), "bob", "bob's password", here)
		if err != nil {
			t.Fatal(err)
		}
		n.move(presentFor)
		presents := s.presents
		if err := n.db.Close(); err != nil {
			t.Fatal(err)
		}
		_, err = n.withCurrentGrants(t.Context(), p)
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.As(err).Message, "database") || s.presents != presents {
			t.Errorf("while the database is away: %v", err)
		}
		if !strings.Contains(n.log.String(), "The database is closed") {
			t.Errorf("the log is %s", n.log)
		}
	})
}

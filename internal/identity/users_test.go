package identity

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

func TestCreateUserRefuses(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "Ann")
		for _, c := range []struct {
			name, password string
			code           fault.Code
			fields         string
		}{
			{"ann", goodPassword, fault.Conflict, ""},
			{"", goodPassword, fault.Invalid, "name"},
			{" bob", goodPassword, fault.Invalid, "name"},
			{"bob:x", goodPassword, fault.Invalid, "name"},
			{".", goodPassword, fault.Invalid, "name"},
			{"..", goodPassword, fault.Invalid, "name"},
			{"bob/x", goodPassword, fault.Invalid, "name"},
			{"bob\x00", goodPassword, fault.Invalid, "name"},
			{"bob\xff", goodPassword, fault.Invalid, "name"},
			{strings.Repeat("a", 256), goodPassword, fault.Invalid, "name"},
			{"bob", "123456789", fault.Invalid, "password"},
			{"bob", "ööööööööö", fault.Invalid, "password"},
			{"bob", strings.Repeat("a", 1025), fault.Invalid, "password"},
			{"bob", "otr_0123456789", fault.Invalid, "password"},
			{"", "", fault.Invalid, "name password"},
		} {
			_, err := n.CreateUser(t.Context(), c.name, secret.New(c.password))
			var fields []string
			if e := fault.As(err); e != nil {
				for _, f := range e.Fields {
					fields = append(fields, f.Name)
				}
			}
			if fault.CodeOf(err) != c.code || strings.Join(fields, " ") != c.fields {
				t.Errorf("%.20q, %.20q: %v", c.name, c.password, err)
			}
		}
		for _, name := range []string{"b", strings.Repeat("ü", 255), "名前", "a b", "...", "a.b", "x@example.com"} {
			if _, err := n.CreateUser(t.Context(), name, secret.New("0123456789")); err != nil {
				t.Errorf("%.20q: %v", name, err)
			}
		}
		if _, err := n.CreateUser(t.Context(), "long", secret.New(strings.Repeat("correct horse battery staple ", 40)[:1024])); err != nil {
			t.Errorf("a password of 1,024 bytes: %v", err)
		}
	})
}

func TestUsers(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		for _, name := range []string{"carl", "Ann", "bob"} {
			n.mustCreate(t, name)
		}
		root := n.mustGrant(t, "bob", SysAdmin, Resource{})
		project := n.mustGrant(t, "ANN", ProjectAdmin, Resource{"git", "ALPHA", ""})
		repository := n.mustGrant(t, "ann", RepoAdmin, Resource{"git", "ALPHA", "api"})
		users, err := n.Users(t.Context(), "", 10)
		if err != nil {
			t.Fatal(err)
		}
		want := []User{
			{Name: "Ann", Source: Local, CreatedAt: n.now(), PasswordAt: n.now(), Grants: []Grant{project, repository}},
			{Name: "bob", Source: Local, CreatedAt: n.now(), PasswordAt: n.now(), Grants: []Grant{root}},
			{Name: "carl", Source: Local, CreatedAt: n.now(), PasswordAt: n.now()},
		}
		if d := cmp.Diff(want, users, cmpopts.IgnoreFields(User{}, "ID"), cmpopts.IgnoreUnexported(User{})); d != "" {
			t.Error(d)
		}
		for after, want := range map[string]string{"": "Ann bob", "ANN": "bob carl", "bob": "carl", "carl": "", "b": "bob carl"} {
			users, err := n.Users(t.Context(), after, 2)
			var names []string
			for _, u := range users {
				names = append(names, u.Name)
			}
			if err != nil || strings.Join(names, " ") != want {
				t.Errorf("after %q: %v, %v", after, names, err)
			}
		}
	})
}

func TestGrants(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		n.mustGrant(t, "ann", RepoAdmin, Resource{"git", "ALPHA", "api"})
		for _, c := range []struct {
			user  string
			perm  Permission
			where Resource
			code  fault.Code
		}{
			{"nobody", Admin, Resource{}, fault.NotFound},
			{"ann", RepoAdmin, Resource{"git", "alpha", "API"}, fault.Conflict},
			{"ann", "ROOT", Resource{}, fault.Invalid},
			{"ann", Admin, Resource{Connection: "git"}, fault.Invalid},
			{"ann", SysAdmin, Resource{"git", "ALPHA", ""}, fault.Invalid},
			{"ann", ProjectAdmin, Resource{}, fault.Invalid},
			{"ann", ProjectAdmin, Resource{"", "ALPHA", ""}, fault.Invalid},
			{"ann", ProjectAdmin, Resource{"git", "ALPHA", "api"}, fault.Invalid},
			{"ann", RepoAdmin, Resource{"git", "ALPHA", ""}, fault.Invalid},
			{"ann", RepoAdmin, Resource{"git", strings.Repeat("A", 256), "api"}, fault.Invalid},
		} {
			if _, err := n.Grant(t.Context(), c.user, c.perm, c.where); fault.CodeOf(err) != c.code {
				t.Errorf("%s %s %v: %v", c.user, c.perm, c.where, err)
			}
		}
		err := JudgeGrant(RepoAdmin, Resource{})
		if e := fault.As(err); e == nil || len(e.Fields) != 3 {
			t.Errorf("not everything that is missing is named: %v", err)
		}
		if err := n.Revoke(t.Context(), "ann", 4711); !fault.Is(err, fault.NotFound) {
			t.Errorf("revoking a grant that is not there: %v", err)
		}
	})
}

func TestTheLastSysAdminStays(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		for _, name := range []string{"ann", "bob", "carl"} {
			n.mustCreate(t, name)
		}
		ann := n.mustGrant(t, "ann", SysAdmin, Resource{})
		if err := n.Revoke(t.Context(), "ann", ann.ID); !fault.Is(err, fault.Conflict) {
			t.Errorf("revoking the last: %v", err)
		}
		if err := n.DeleteUser(t.Context(), "ann"); !fault.Is(err, fault.Conflict) {
			t.Errorf("deleting the last: %v", err)
		}
		if err := n.DeleteUser(t.Context(), "carl"); err != nil {
			t.Errorf("deleting somebody else: %v", err)
		}
		bob := n.mustGrant(t, "bob", SysAdmin, Resource{})
		// Two who remove each other at once: one of them stays.
		var wg sync.WaitGroup
		errs := make([]error, 2)
		wg.Go(func() { errs[0] = n.Revoke(t.Context(), "bob", bob.ID) })
		wg.Go(func() { errs[1] = n.DeleteUser(t.Context(), "ann") })
		wg.Wait()
		if fault.CodeOf(errs[0])+fault.CodeOf(errs[1]) != fault.Conflict {
			t.Errorf("two who remove each other: %v", errs)
		}
	})
}

func TestDeletedUser(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		gone := n.mustCreate(t, "ann")
		token, made, err := n.CreateToken(t.Context(), "ann", "x", All, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		session, _, err := n.SignIn(t.Context(), "ann", goodPassword, here)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.DeleteUser(t.Context(), "ann"); err != nil {
			t.Fatal(err)
		}
		_, basic := n.Basic(t.Context(), "ann", goodPassword, here)
		_, bearer := n.Bearer(t.Context(), token.Reveal())
		_, cookie := n.Session(t.Context(), session)
		for _, err := range []error{basic, bearer, cookie} {
			if !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("who is deleted is still somebody: %v", err)
			}
		}
		_, byID := n.TokenByID(t.Context(), made.ID)
		for _, err := range []error{byID, n.DeleteUser(t.Context(), "ann"), n.SetPassword(t.Context(), "ann", secret.New(goodPassword))} {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("what is deleted is still there: %v", err)
			}
		}
		if back := n.mustCreate(t, "ann"); back.ID == gone.ID {
			t.Error("an id is used twice")
		}
	})
}

// TestAudit: every change leaves an entry, and none has a secret in it.
func TestAudit(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "root")
		n.mustGrant(t, "root", SysAdmin, Resource{})
		ctx := WithCaller(t.Context(), &Caller{Origin{Address: here, RequestID: "r1"}, &Principal{Name: "root", Source: Local}})
		if _, err := n.CreateUser(ctx, "ann", secret.New(goodPassword)); err != nil {
			t.Fatal(err)
		}
		g, err1 := n.Grant(ctx, "ann", RepoAdmin, Resource{"git", "ALPHA", "api"})
		err2 := n.Revoke(ctx, "ann", g.ID)
		token, made, err3 := n.CreateToken(ctx, "ann", "ci", Builds, n.now().Add(time.Hour))
		err4 := n.RevokeToken(ctx, made.ID)
		session, p, err5 := n.SignIn(ctx, "ann", goodPassword, here)
		err6 := n.EndSession(ctx, p.Session)
		err7 := n.SetPassword(ctx, "ann", secret.New("another password"))
		err8 := n.DeleteUser(ctx, "ann")
		for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8} {
			if err != nil {
				t.Fatalf("step %d: %v", i+1, err)
			}
		}
		trail := n.trail(t)
		want := []string{
			`["root","create","user","ann"]{}{"name":"ann"}`,
			`["root","grant","user","ann"]{}{"connection":"git","permission":"REPO_ADMIN","projectKey":"ALPHA","repositoryKey":"api"}`,
			`["root","revoke","user","ann"]{"connection":"git","permission":"REPO_ADMIN","projectKey":"ALPHA","repositoryKey":"api"}{}`,
			`["root","create","token","1"]{}{"expiresAt":"2026-03-01T13:00:00Z","name":"ci","scope":"builds","user":"ann"}`,
			`["root","revoke","token","1"]{"expiresAt":"2026-03-01T13:00:00Z","name":"ci","scope":"builds","user":"ann"}{}`,
			`["ann","sign in","session","1"]{}{"address":"192.0.2.1","user":"ann","way":"password"}`,
			`["root","revoke","session","1"]{"address":"192.0.2.1","user":"ann"}{}`,
			`["root","set password","user","ann"]{}{}`,
			`["root","delete","user","ann"]{"name":"ann"}{}`,
		}
		if d := cmp.Diff(want, trail[2:]); d != "" {
			t.Error(d)
		}
		for _, hidden := range []string{goodPassword, "another password", token.Reveal(), session} {
			if slices.ContainsFunc(trail, func(line string) bool { return strings.Contains(line, hidden) }) {
				t.Error("the audit trail has a secret")
			}
		}
	})
}

func TestNamesOfUsers(t *testing.T) {
	for name, says := range map[string]string{
		"ann": "", "Ann.Lee-2@example.com": "", "José Ñandú": "", "аня": "", "Мария Иванова 2": "", "田中たろう": "", "김철수": "", "田中 taro": "",
		"ann\u0430":  "one script", // Cyrillic
		"\u0391nn":   "one script", // Greek
		"ann\u200b":  "visible",
		"a\u00a0nn":  "visible",
		"\u202enna":  "visible",
		"jose\u0301": "composed",
		"ａｎｎ":        "composed", // full width
		"an\u00adn":  "visible",
		" ann":       "nor begin or end with a space",
		"a:b":        "must not contain a colon",
		"":           "Enter a user name",
	} {
		err := JudgeUser(name, secret.New(goodPassword))
		switch {
		case says == "" && err != nil:
			t.Errorf("%q: %v", name, err)
		case says != "" && (err == nil || !strings.Contains(fault.As(err).Fields[0].Message, says)):
			t.Errorf("%q: %v, want %q", name, err, says)
		}
	}
}

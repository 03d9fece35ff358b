package identity

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

var (
	shop    = Resource{Connection: "main", Project: "SHOP"}
	shopAPI = Resource{Connection: "main", Project: "SHOP", Repository: "api"}
	other   = Resource{Connection: "main", Project: "OTHER"}
)

// enter signs the company's account in, and returns a token of the user.
func (n node) enter(t *testing.T) (p *Principal, token string) {
	t.Helper()
	browser := BrowserSecret()
	p, err := n.complete(t, browser, n.begin(t, browser, here))
	if err != nil {
		t.Fatal(err)
	}
	plain, _, err := n.CreateToken(t.Context(), p.Ref(), "ci", All, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return p, plain.Reveal()
}

func (n node) mustGrantGroup(t *testing.T, group string, perm Permission, at Resource) Grant {
	t.Helper()
	g, err := n.GrantGroup(t.Context(), group, perm, at)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// may tells what the owner of a token may do, a word each.
func (n node) may(t *testing.T, token string) (words []string) {
	t.Helper()
	p, err := n.Bearer(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		word string
		perm Permission
		at   Resource
	}{{"sys", SysAdmin, Resource{}}, {"admin", Admin, Resource{}}, {"shop", ProjectAdmin, shop}, {"api", RepoAdmin, shopAPI}, {"other", ProjectAdmin, other}} {
		if p.May(c.perm, c.at) {
			words = append(words, c.word)
		}
	}
	return words
}

func (n node) mayOnly(t *testing.T, when, token string, want ...string) {
	t.Helper()
	if got := n.may(t, token); !slices.Equal(got, want) {
		t.Errorf("%s: may %q, want %q", when, got, want)
	}
}

// A grant to a group holds for users who signed in before it and after it, for 7
// days, and until the provider no longer names the group; for tokens too.
func TestGrantsToGroups(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := &company{account: Account{Name: "ann", Subject: "1", Groups: []string{"devs", "Devs", "ops/é, 日本"}}}
		n.useCompany(c)
		_, token := n.enter(t)
		n.mayOnly(t, "nothing granted", token)

		project := n.mustGrantGroup(t, "ops/é, 日本", ProjectAdmin, shop)
		n.mayOnly(t, "granted after the sign-in", token, "shop", "api")
		n.mustGrantGroup(t, "devs", RepoAdmin, shopAPI)
		n.mustGrantGroup(t, "DEVS", Admin, Resource{})
		n.mayOnly(t, "a name in another case", token, "shop", "api")
		if err := n.RevokeGroup(t.Context(), "devs", project.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("a grant of another group: %v", err)
		}
		if err := n.RevokeGroup(t.Context(), "ops/é, 日本", project.ID); err != nil {
			t.Fatal(err)
		}
		n.mayOnly(t, "revoked", token, "api")

		n.move(claimsHold - time.Second)
		n.mayOnly(t, "within 7 days", token, "api")
		n.move(time.Second)
		n.mayOnly(t, "after 7 days", token)
		n.enter(t)
		n.mayOnly(t, "signed in again", token, "api")
		c.account.Groups = []string{"Devs"}
		n.enter(t)
		n.mayOnly(t, "the group is not named any more", token)
		c.account.Groups = []string{"devs", "admins"}
		n.enter(t)
		n.mayOnly(t, "and again, with the settings' group", token, "admin", "shop", "api", "other")

		without := newNode(t, n.db, n.clock)
		without.UseSignInProvider(SignInProvider{ID: "oidc", Source: SingleSignOn, Provider: c})
		without.mayOnly(t, "a node whose settings name no groups_claim", token)

		for _, line := range []string{
			`["","grant","group","ops/é, 日本"]{"connection":"main","permission":"PROJECT_ADMIN","projectKey":"SHOP"}`,
			`["","revoke","group","ops/é, 日本"]{"connection":"main","permission":"PROJECT_ADMIN","projectKey":"SHOP"}`,
		} {
			if !slices.ContainsFunc(n.trail(t), func(l string) bool { return strings.HasPrefix(strings.Replace(l, "]{}{", "]{", 1), line) }) {
				t.Errorf("the trail lacks %s: %q", line, n.trail(t))
			}
		}
	})
}

// What cannot be a grant to a group is refused, every field at once.
func TestRefusedGrantsToGroups(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustGrantGroup(t, strings.Repeat("🛶", maxName), RepoAdmin, Resource{
			Connection: strings.Repeat("c", maxName), Project: strings.Repeat("p", maxName), Repository: strings.Repeat("r", maxName),
		})
		n.mustGrantGroup(t, "devs", ProjectAdmin, shop)
		for _, c := range []struct {
			group  string
			perm   Permission
			at     Resource
			code   fault.Code
			fields string
		}{
			{"devs", ProjectAdmin, Resource{Connection: "main", Project: "shop"}, fault.Conflict, ""},
			{"devs", SysAdmin, Resource{}, fault.Invalid, "permission"},
			{"", SysAdmin, Resource{}, fault.Invalid, "group permission"},
			{"", ProjectAdmin, Resource{Connection: "main"}, fault.Invalid, "group projectKey"},
			{"devs", "KING", Resource{}, fault.Invalid, "permission"},
			{strings.Repeat("x", maxName+1), Admin, Resource{}, fault.Invalid, "group"},
			{strings.Repeat("x", 1000), Admin, Resource{}, fault.Invalid, "group"},
			{"a\nb", Admin, Resource{}, fault.Invalid, "group"},
			{"a\x00", Admin, Resource{}, fault.Invalid, "group"},
			{"a\xff", Admin, Resource{}, fault.Invalid, "group"},
			{" a", Admin, Resource{}, fault.Invalid, "group"},
			{"..", Admin, Resource{}, fault.Invalid, "group"},
		} {
			_, err := n.GrantGroup(t.Context(), c.group, c.perm, c.at)
			var fields []string
			if e := fault.As(err); e != nil {
				for _, f := range e.Fields {
					fields = append(fields, f.Name)
				}
			}
			if fault.CodeOf(err) != c.code || strings.Join(fields, " ") != c.fields {
				t.Errorf("%.20q, %s: %v", c.group, c.perm, err)
			}
		}
		for _, group := range []string{"a\x00", "a\xff", "none", ""} {
			if _, err := n.Group(t.Context(), group); !fault.Is(err, fault.NotFound) {
				t.Errorf("the group %q: %v", group, err)
			}
			if err := n.RevokeGroup(t.Context(), group, 1); !fault.Is(err, fault.NotFound) {
				t.Errorf("a grant of %q: %v", group, err)
			}
		}
	})
}

// Of thousands of groups those are kept that give something, whatever their names
// are; names that cannot be kept stop no sign-in.
func TestThousandsOfGroups(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		groups := []string{"zz granted", strings.Repeat("🛶", 1000), "a\x00b", "", " x ", "root & co"}
		for i := range 3 * maxGroups {
			groups = append(groups, fmt.Sprintf("group %04d", i), fmt.Sprintf("group %04d", i))
		}
		n.useCompany(&company{account: Account{Name: "ann", Subject: "1", Groups: groups}})
		n.mustGrantGroup(t, "zz granted", ProjectAdmin, shop)
		_, token := n.enter(t)
		n.mayOnly(t, "of 1,500", token, "admin", "shop", "api", "other")
		list, err := n.Groups(t.Context(), "", 10_000)
		if err != nil {
			t.Fatal(err)
		}
		known := 0
		for _, g := range list {
			known += g.Users
		}
		if known != maxGroups || !strings.Contains(n.log.String(), "groups=1502 kept=500") {
			t.Errorf("%d groups are kept; the log has %s", known, n.log)
		}
	})
}

// The list has groups that give something first; who is in one, and since when, is
// known until the sign-in no longer counts.
func TestListGroups(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := &company{account: Account{Name: "ann", Subject: "1", Groups: []string{"devs", "all"}}}
		n.useCompany(c)
		began := n.read()
		n.enter(t)
		n.move(24 * time.Hour)
		c.account = Account{Name: "bob", Subject: "2", Groups: []string{"devs"}}
		n.enter(t)
		c.account = Account{Name: "ann", Subject: "1", Groups: []string{"devs", "all"}}
		n.enter(t)
		if err := n.DisableUser(t.Context(), "oidc:bob"); err != nil {
			t.Fatal(err)
		}
		grant := n.mustGrantGroup(t, "gone", ProjectAdmin, shop)
		lines := func() (lines []string) {
			for after := ""; ; {
				page, err := n.Groups(t.Context(), after, 2)
				if err != nil {
					t.Fatal(err)
				}
				for _, g := range page {
					after = g.Place()
					lines = append(lines, fmt.Sprintf("%s admin=%t users=%d grants=%d", g.Name, g.Admin, g.Users, len(g.Grants)))
				}
				if len(page) < 2 {
					return lines
				}
			}
		}
		want := []string{"admins admin=true users=0 grants=0", "gone admin=false users=0 grants=1", "root & co admin=true users=0 grants=0", "all admin=false users=1 grants=0", "devs admin=false users=2 grants=0"}
		if got := lines(); !slices.Equal(got, want) {
			t.Errorf("listed %q", got)
		}
		members, err := n.Members(t.Context(), "devs", "", 10)
		if now := n.read(); err != nil || !slices.Equal(members, []Member{{"oidc:ann", false, began, now.Add(claimsHold)}, {"oidc:bob", true, now, now.Add(claimsHold)}}) {
			t.Errorf("members: %+v, %v", members, err)
		}
		if members, err = n.Members(t.Context(), "devs", "oidc:ann", 10); err != nil || len(members) != 1 || members[0].Ref != "oidc:bob" {
			t.Errorf("after ann: %+v, %v", members, err)
		}
		if g, err := n.Group(t.Context(), "gone"); err != nil || len(g.Grants) != 1 || g.Grants[0] != grant {
			t.Errorf("%+v, %v", g, err)
		}
		n.move(claimsHold)
		if got := lines(); !slices.Equal(got, want[:3]) {
			t.Errorf("after 7 days %q", got)
		}
		if _, err := n.Group(t.Context(), "devs"); !fault.Is(err, fault.NotFound) {
			t.Errorf("after 7 days: %v", err)
		}
	})
}

// Grants of groups follow a renamed project and go with a connection, as those of
// users do.
func TestGrantsOfGroupsMove(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.useCompany(&company{account: Account{Name: "ann", Subject: "1", Groups: []string{"devs"}}})
		n.mustGrantGroup(t, "devs", RepoAdmin, Resource{Connection: "main", Project: "OLD", Repository: "api"})
		n.mustGrantGroup(t, "ops", RepoAdmin, Resource{Connection: "main", Project: "OLD", Repository: "api"})
		n.mustGrantGroup(t, "ops", RepoAdmin, shopAPI) // has the new place already
		_, token := n.enter(t)
		n.mayOnly(t, "before", token)
		if err := n.db.Write(t.Context(), func(tx *db.Tx) error {
			if count, err := CountGrants(t.Context(), tx, Resource{Connection: "main", Project: "old"}, time.Time{}); err != nil || count != 2 {
				t.Errorf("%d grants, %v", count, err)
			}
			return MoveGrants(t.Context(), tx, Resource{Connection: "main", Project: "OLD"}, Resource{Connection: "main", Project: "SHOP"})
		}); err != nil {
			t.Fatal(err)
		}
		n.move(freshness)
		n.mayOnly(t, "renamed", token, "api")
		if g, err := n.Group(t.Context(), "ops"); err != nil || len(g.Grants) != 1 {
			t.Errorf("%+v, %v", g, err)
		}
		if err := n.db.Write(t.Context(), func(tx *db.Tx) error { return RevokeGrants(t.Context(), tx, "main") }); err != nil {
			t.Fatal(err)
		}
		n.move(freshness)
		n.mayOnly(t, "the connection is deleted", token)
		if _, err := n.Group(t.Context(), "ops"); !fault.Is(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
		if want := `["","revoke","group","ops"]`; !slices.ContainsFunc(n.trail(t), func(l string) bool { return strings.HasPrefix(l, want) }) {
			t.Errorf("the trail lacks %s: %q", want, n.trail(t))
		}
	})
}

// SYS_ADMIN cannot be a group's in the database either.
func TestNoSysAdminOfGroups(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		err := n.db.Write(t.Context(), func(tx *db.Tx) error {
			return n.insertGrant(t.Context(), tx, holder{group: "devs"}, &Grant{Permission: SysAdmin, GrantedAt: n.read()})
		})
		if err == nil {
			t.Error("it was stored")
		}
	})
}

// Users whose groups do not count cost no query more: there is no transaction here
// to run one in.
func TestGroupsCostOnlyTheirUsers(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		local, over := User{ID: 1, Source: Local, ClaimedUntil: n.read().Add(time.Hour)}, User{ID: 2, Source: SingleSignOn, ClaimedUntil: n.read()}
		if err := n.loadByGroups(t.Context(), nil, &local, &over); err != nil {
			t.Error("without settings:", err)
		}
		n.useCompany(new(company))
		if err := n.loadByGroups(t.Context(), nil, &local, &over); err != nil {
			t.Error("a local user, and one whose groups are over:", err)
		}
	})
}

// A sign-in that is refused because the provider names no group that may use
// Outrigger ends what groups gave, in open sessions and for tokens too.
func TestARefusedSignInEndsGroups(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := &company{account: Account{Name: "ann", Subject: "1", Groups: []string{"devs", "staff"}}}
		n.UseSignInProvider(SignInProvider{ID: "oidc", Name: "the company", Source: SingleSignOn, Provider: c, AllowedGroups: []string{"staff"}})
		n.UseGroups(SingleSignOn, nil)
		n.mustGrantGroup(t, "devs", ProjectAdmin, shop)
		_, token := n.enter(t)
		n.mayOnly(t, "signed in", token, "shop", "api")
		c.account.Groups = []string{"devs"}
		c.account.Subject = "2"
		browser := BrowserSecret()
		if _, err := n.complete(t, browser, n.begin(t, browser, here)); !fault.Is(err, fault.Unauthenticated) {
			t.Error(err)
		}
		n.mayOnly(t, "another account of the name was refused", token, "shop", "api")
		c.account.Subject = "1"
		if _, err := n.complete(t, browser, n.begin(t, browser, here)); !fault.Is(err, fault.Unauthenticated) || !strings.Contains(err.Error(), "in no group that may use") {
			t.Error(err)
		}
		n.mayOnly(t, "refused", token)
	})
}

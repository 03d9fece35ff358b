// Package users is the console's pages about the users of Outrigger: who they
// are, what they may do, and whether they may sign in.
package users

import (
	"context"
	"embed"
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/phrase"
)

//go:embed pages
var pages embed.FS

const (
	path    = "/system/users"
	newPath = path + "/new"
	one     = path + "/named/{name}" // "new" is a name too
)

// listed is how many users stand on a page.
const listed = 50

// Options say what the pages need.
type Options struct {
	Service *identity.Service
	// Connections lists the names of the connections that grants can be about.
	Connections func() []string
	// Accounts lists the accounts of platforms that a user authorised Outrigger to
	// use. They are not used while the user is disabled, and withdrawn when the user
	// is deleted.
	Accounts func(ctx context.Context, user identity.User) ([]Account, error)
}

// Account is one of a platform.
type Account struct {
	Name, Connection string
	Rules            int // that belong to it
}

func (a Account) String() string {
	return "the account " + a.Name + " of " + a.Connection + " (" + phrase.Count(a.Rules, "rule") + ")"
}

type users struct{ Options }

// Register adds the pages to a console.
func Register(c *console.Console, o Options) {
	u := &users{o}
	admins := console.Needs(identity.SysAdmin)
	c.AddPages(console.Sub(pages, "pages"))
	c.AddNav(console.Nav{Section: "System", Label: "Users", Path: path, Visible: func(p *identity.Principal) bool {
		return p.May(identity.SysAdmin, identity.Resource{})
	}})
	c.Handle("GET "+path, admins, u.list, "users")
	c.Handle("GET "+newPath, admins, u.blank, "user-new")
	c.Handle("POST "+newPath, admins, console.WithForm(u.create), "user-new", "user-password-shown")
	c.Handle("GET "+one, admins, console.Of(u.ofPath, u.show), "user")
	c.Handle("GET "+one+"/grant", admins, console.Of(u.ofPath, u.blankGrant), "user-grant")
	c.Handle("POST "+one+"/grant", admins, console.FormOf(u.ofPath, u.grant), "user-grant")
	c.Handle("GET "+one+"/grants/{id}/revoke", admins, console.Of(u.ofPath, u.askRevoke))
	c.Handle("POST "+one+"/grants/{id}/revoke", admins, console.Of(u.ofPath, u.revoke))
	c.Handle("GET "+one+"/password", admins, u.blankPassword, "user-password")
	c.Handle("POST "+one+"/password", admins, console.WithForm(u.setPassword), "user-password", "user-password-shown")
	c.Handle("GET "+one+"/second-factor/remove", admins, u.askRemoveFactors)
	c.Handle("POST "+one+"/second-factor/remove", admins, u.removeFactors)
	c.Handle("GET "+one+"/access", admins, console.Of(u.ofPath, u.access), "user-access")
	c.Handle("GET "+one+"/access/end", admins, console.Of(u.ofPath, u.askEndAll))
	c.Handle("POST "+one+"/access/end", admins, console.Of(u.ofPath, u.endAll))
	c.Handle("POST "+one+"/sessions/{id}/end", admins, console.Of(u.ofPath, u.endOne))
	c.Handle("GET "+one+"/tokens/{id}/revoke", admins, console.Of(u.ofPath, u.askRevokeToken))
	c.Handle("POST "+one+"/tokens/{id}/revoke", admins, console.Of(u.ofPath, u.revokeToken))
	c.Handle("GET "+one+"/disable", admins, console.Of(u.ofPath, u.askDisable))
	c.Handle("POST "+one+"/disable", admins, u.disable)
	c.Handle("GET "+one+"/enable", admins, u.blankEnable, "user-enable")
	c.Handle("POST "+one+"/enable", admins, console.FormOf(u.ofPath, u.enable), "user-enable")
	c.Handle("GET "+one+"/delete", admins, console.Of(u.ofPath, u.askDelete))
	c.Handle("POST "+one+"/delete", admins, u.delete)
}

// pageOf is where a user's page is, or what is below it.
func pageOf(ref, rest string) string { return console.Path(path+"/named/%s", ref) + rest }

func upTo(ref string) []console.Link {
	return []console.Link{{Label: "Users", Path: path}, {Label: ref, Path: pageOf(ref, "")}}
}

// own reports whether the user is the one who reads the page.
func own(r *http.Request, u identity.User) bool { return identity.From(r.Context()).UserID == u.ID }

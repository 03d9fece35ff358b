// Package groups is the console's pages about the groups of single sign-on: what
// was granted to them, and who is known to be in them.
package groups

import (
	"embed"
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/identity"
)

//go:embed pages
var pages embed.FS

const (
	path      = "/system/groups"
	grantPath = path + "/grant"
	one       = path + "/named/{group}" // "grant" is a name too
)

const (
	// listed is how many groups, or users of a group, stand on a page.
	listed = 50
	// suggested is how many groups the form offers while one types.
	suggested = 500
)

// Options say what the pages need.
type Options struct {
	Service *identity.Service
	// Connections lists the names of the connections that grants can be about.
	Connections func() []string
	// Provider is what users call the provider of single sign-on; "": there is none.
	Provider string
}

type groups struct{ Options }

// Register adds the pages to a console.
func Register(c *console.Console, o Options) {
	g := &groups{o}
	admins := console.Needs(identity.SysAdmin)
	c.AddPages(console.Sub(pages, "pages"))
	c.AddNav(console.Nav{Section: "System", Label: "Groups", Path: path, Visible: func(p *identity.Principal) bool {
		return p.May(identity.SysAdmin, identity.Resource{})
	}})
	c.Handle("GET "+path, admins, g.list, "groups")
	c.Handle("GET "+grantPath, admins, g.blankGrant, "group-grant")
	c.Handle("POST "+grantPath, admins, console.WithForm(g.grant), "group-grant")
	c.Handle("GET "+one, admins, console.Of(g.ofPath, g.show), "group")
	c.Handle("GET "+one+"/grants/{id}/revoke", admins, console.Of(g.ofPath, g.askRevoke))
	c.Handle("POST "+one+"/grants/{id}/revoke", admins, console.Of(g.ofPath, g.revoke))
}

// ofPath is the group that a path names.
func (g *groups) ofPath(r *http.Request) (identity.Group, error) {
	return g.Service.Group(r.Context(), r.PathValue("group"))
}

// pageOf is where a group's page is.
func pageOf(name string) string { return console.Path(path+"/named/%s", name) }

func up() []console.Link { return []console.Link{{Label: "Groups", Path: path}} }

// missing says what the settings lack for groups to give anything; "": nothing.
func (g *groups) missing() string {
	switch {
	case g.Provider == "":
		return "Groups come from an OpenID Connect provider, and none is configured. Set identity.oidc.issuer, identity.oidc.groups_claim and " +
			"what belongs to them, and restart."
	case !g.Service.HasGroups():
		return "Set identity.oidc.groups_claim to the claim in which " + g.Provider + " lists the groups of a user, and restart."
	}
	return ""
}

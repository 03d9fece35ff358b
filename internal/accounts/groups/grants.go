package groups

import (
	"net/http"

	"outrigger/internal/accounts/grants"
	"outrigger/internal/console"
	"outrigger/internal/identity"
)

type grantForm struct {
	grants.Form
	Groups []string
}

func (g *groups) grantPage(r *http.Request, form *console.Form) (console.Page, error) {
	known, err := g.Service.Groups(r.Context(), "", suggested)
	if err != nil {
		return console.Page{}, err
	}
	view := grantForm{Form: grants.Form{Form: form, Permissions: grants.Permissions, Connections: g.Connections(), Back: path}}
	for _, group := range known {
		view.Groups = append(view.Groups, group.Name)
	}
	return console.Page{Template: "group-grant", Title: "Grant a permission to a group", Up: up(), Data: view}, nil
}

func (g *groups) blankGrant(r *http.Request) (console.Response, error) {
	return g.grantPage(r, grants.Blank(g.Connections()).Set("group", r.URL.Query().Get("group")))
}

func (g *groups) grant(r *http.Request, form *console.Form) (console.Response, error) {
	page, err := g.grantPage(r, form)
	if err != nil {
		return nil, err
	}
	name := form.Get("group")
	perm, at, err := grants.Read(form, g.Connections(), func(perm identity.Permission, at identity.Resource) error {
		return identity.JudgeGroupGrant(name, perm, at)
	})
	if err != nil {
		return page, err
	}
	granted, err := g.Service.GrantGroup(r.Context(), name, perm, at)
	if err != nil {
		return page, err
	}
	return console.Redirect{To: pageOf(name), Flash: "Granted: " + grants.Sentence(granted)}, nil
}

func (g *groups) askRevoke(r *http.Request, group identity.Group) (console.Response, error) {
	grant, err := grants.Find(group.Grants, r.PathValue("id"), "The group "+group.Name)
	if err != nil {
		return nil, err
	}
	return console.Confirm{
		Title: "Revoke this permission of the group " + group.Name + "?", Text: "It ends within a second for all users of the group, in open " +
			"sessions and for tokens too.",
		Losses: []string{grants.Sentence(grant)}, Verb: "Revoke the permission", Keep: "Keep the permission", Back: pageOf(group.Name),
	}, nil
}

// revoke goes back to the list: a group without grants and users has no page.
func (g *groups) revoke(r *http.Request, group identity.Group) (console.Response, error) {
	grant, err := grants.Find(group.Grants, r.PathValue("id"), "The group "+group.Name)
	if err != nil {
		return nil, err
	}
	err = g.Service.RevokeGroup(r.Context(), group.Name, grant.ID)
	return console.Redirect{To: path, Flash: "The permission of the group " + group.Name + " was revoked."}, err
}

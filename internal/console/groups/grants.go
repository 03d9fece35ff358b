package groups

import (
	"net/http"
	"slices"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/console/users"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// permissions are what can be granted, in the words of the form.
var permissions = []console.Option{
	{Value: string(identity.RepoAdmin), Label: "A repository", Hint: "its rules, reports, events and deliveries"},
	{Value: string(identity.ProjectAdmin), Label: "A project", Hint: "the same of the project and all its repositories"},
	{Value: string(identity.Admin), Label: "All rules, reports and settings"},
}

type grantForm struct {
	*console.Form
	Permissions         []console.Option
	Connections, Groups []string
	Back                string
}

func (g *groups) grantPage(r *http.Request, form *console.Form) (console.Page, error) {
	known, err := g.Service.Groups(r.Context(), "", suggested)
	if err != nil {
		return console.Page{}, err
	}
	view := grantForm{Form: form, Permissions: permissions, Connections: g.Connections(), Back: path}
	for _, group := range known {
		view.Groups = append(view.Groups, group.Name)
	}
	return console.Page{Template: "group-grant", Title: "Grant a permission to a group", Up: up(), Data: view}, nil
}

func (g *groups) blankGrant(r *http.Request) (console.Response, error) {
	form := console.NewForm().Set("permission", string(identity.RepoAdmin)).Set("group", r.URL.Query().Get("group"))
	if connections := g.Connections(); len(connections) == 1 {
		form.Set("connection", connections[0])
	}
	return g.grantPage(r, form)
}

func (g *groups) grant(r *http.Request) (console.Response, error) {
	form, err := console.ReadForm(r)
	if err != nil {
		return nil, err
	}
	page, err := g.grantPage(r, form)
	if err != nil {
		return nil, err
	}
	name, perm := form.Get("group"), identity.Permission(form.Get("permission"))
	at := identity.Resource{Connection: form.Get("connection"), Project: form.Get("projectKey"), Repository: form.Get("repositoryKey")}
	if perm == identity.Admin {
		at = identity.Resource{} // the fields are for the other two, and may be filled in advance
	}
	var wrong fault.Fields
	if at.Connection != "" && !slices.Contains(g.Connections(), at.Connection) {
		wrong.Add("connection", "There is no connection %q.", at.Connection)
	}
	if err := wrong.Join(identity.JudgeGroupGrant(name, perm, at)); err != nil {
		return page, err
	}
	if err := wrong.Err(); err != nil {
		return page, err
	}
	granted, err := g.Service.GrantGroup(r.Context(), name, perm, at)
	if err != nil {
		return page, err
	}
	return console.Redirect{To: pageOf(name), Flash: "Granted: " + users.Sentence(granted)}, nil
}

// grantOfPath is the group and the grant that the path names.
func (g *groups) grantOfPath(r *http.Request) (string, identity.Grant, error) {
	group, err := g.Service.Group(r.Context(), r.PathValue("group"))
	if err != nil {
		return group.Name, identity.Grant{}, err
	}
	for _, grant := range group.Grants {
		if strconv.FormatInt(grant.ID, 10) == r.PathValue("id") {
			return group.Name, grant, nil
		}
	}
	return group.Name, identity.Grant{}, fault.New(fault.NotFound, "The group %s no longer has this permission.", group.Name)
}

func (g *groups) askRevoke(r *http.Request) (console.Response, error) {
	name, grant, err := g.grantOfPath(r)
	if err != nil {
		return nil, err
	}
	return console.Confirm{
		Title: "Revoke this permission of the group " + name + "?", Text: "It ends within a second for all users of the group, in open sessions and for tokens too.",
		Losses: []string{users.Sentence(grant)}, Verb: "Revoke permission", Back: pageOf(name),
	}, nil
}

// revoke goes back to the list: a group without grants and users has no page.
func (g *groups) revoke(r *http.Request) (console.Response, error) {
	name, grant, err := g.grantOfPath(r)
	if err != nil {
		return nil, err
	}
	if err := g.Service.RevokeGroup(r.Context(), name, grant.ID); err != nil {
		return nil, err
	}
	return console.Redirect{To: path, Flash: "The permission of the group " + name + " was revoked."}, nil
}

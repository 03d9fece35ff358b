package users

import (
	"net/http"
	"slices"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// permissions are what can be granted, in the words of the form.
var permissions = []console.Option{
	{Value: string(identity.RepoAdmin), Label: "A repository", Hint: "its rules, reports, events and deliveries"},
	{Value: string(identity.ProjectAdmin), Label: "A project", Hint: "the same of the project and all its repositories"},
	{Value: string(identity.Admin), Label: "All rules, reports and settings"},
	{Value: string(identity.SysAdmin), Label: "The whole system", Hint: "users, nodes, connections and mail too"},
}

type grantForm struct {
	*console.Form
	Permissions []console.Option
	Connections []string
	Back        string
}

func (u *users) grantPage(form *console.Form, user identity.User) console.Page {
	return console.Page{
		Template: "user-grant", Title: "Grant a permission to " + user.Name, Up: upTo(user.Ref()),
		Data: grantForm{form, permissions, u.Connections(), pageOf(user.Ref(), "")},
	}
}

func (u *users) blankGrant(r *http.Request) (console.Response, error) {
	user, err := u.ofPath(r)
	if err != nil {
		return nil, err
	}
	form := console.NewForm().Set("permission", string(identity.RepoAdmin))
	if connections := u.Connections(); len(connections) == 1 {
		form.Set("connection", connections[0])
	}
	return u.grantPage(form, user), nil
}

func (u *users) grant(r *http.Request) (console.Response, error) {
	form, err := console.ReadForm(r)
	if err != nil {
		return nil, err
	}
	user, err := u.ofPath(r)
	if err != nil {
		return nil, err
	}
	perm := identity.Permission(form.Get("permission"))
	at := identity.Resource{Connection: form.Get("connection"), Project: form.Get("projectKey"), Repository: form.Get("repositoryKey")}
	if perm == identity.SysAdmin || perm == identity.Admin {
		at = identity.Resource{} // the fields are for the other two, and may be filled in advance
	}
	var wrong fault.Fields
	if at.Connection != "" && !slices.Contains(u.Connections(), at.Connection) {
		wrong.Add("connection", "There is no connection %q.", at.Connection)
	}
	if err := wrong.Join(identity.JudgeGrant(perm, at)); err != nil {
		return u.grantPage(form, user), err
	}
	if err := wrong.Err(); err != nil {
		return u.grantPage(form, user), err
	}
	g, err := u.Service.Grant(r.Context(), user.Ref(), perm, at)
	if err != nil {
		return u.grantPage(form, user), err
	}
	return console.Redirect{To: pageOf(user.Ref(), ""), Flash: "Granted: " + Sentence(g)}, nil
}

// grantOfPath is the grant that the path names, and its user.
func (u *users) grantOfPath(r *http.Request) (identity.User, identity.Grant, error) {
	user, err := u.ofPath(r)
	if err != nil {
		return user, identity.Grant{}, err
	}
	for _, g := range user.Grants {
		if strconv.FormatInt(g.ID, 10) == r.PathValue("id") {
			return user, g, nil
		}
	}
	return user, identity.Grant{}, fault.New(fault.NotFound, "%s no longer has this permission.", user.Name)
}

func (u *users) askRevoke(r *http.Request) (console.Response, error) {
	user, g, err := u.grantOfPath(r)
	if err != nil {
		return nil, err
	}
	return console.Confirm{
		Title: "Revoke this permission of " + user.Name + "?", Text: "It ends within a second, in open sessions and for tokens too.",
		Losses: []string{Sentence(g)}, Verb: "Revoke permission", Back: pageOf(user.Ref(), ""),
	}, nil
}

func (u *users) revoke(r *http.Request) (console.Response, error) {
	user, g, err := u.grantOfPath(r)
	if err != nil {
		return nil, err
	}
	if err := u.Service.Revoke(r.Context(), user.Ref(), g.ID); err != nil {
		return nil, err
	}
	return console.Redirect{To: pageOf(user.Ref(), ""), Flash: "The permission was revoked."}, nil
}

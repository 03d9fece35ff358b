package users

import (
	"net/http"
	"slices"

	"outrigger/internal/accounts/grants"
	"outrigger/internal/console"
	"outrigger/internal/identity"
)

// permissions are what can be granted to a user, in the words of the form.
var permissions = append(slices.Clip(grants.Permissions),
	console.Option{Value: string(identity.SysAdmin), Label: "The whole system", Hint: "users, nodes, connections and mail too"})

func (u *users) grantPage(form *console.Form, user identity.User) console.Page {
	return console.Page{
		Template: "user-grant", Title: "Grant a permission to " + user.Name, Up: upTo(user.Ref()),
		Data: grants.Form{Form: form, Permissions: permissions, Connections: u.Connections(), Back: pageOf(user.Ref(), "")},
	}
}

func (u *users) blankGrant(_ *http.Request, user identity.User) (console.Response, error) {
	return u.grantPage(grants.Blank(u.Connections()), user), nil
}

func (u *users) grant(r *http.Request, form *console.Form, user identity.User) (console.Response, error) {
	perm, at, err := grants.Read(form, u.Connections(), identity.JudgeGrant)
	if err != nil {
		return u.grantPage(form, user), err
	}
	g, err := u.Service.Grant(r.Context(), user.Ref(), perm, at)
	if err != nil {
		return u.grantPage(form, user), err
	}
	return console.Redirect{To: pageOf(user.Ref(), ""), Flash: "Granted: " + grants.Sentence(g)}, nil
}

func (u *users) askRevoke(r *http.Request, user identity.User) (console.Response, error) {
	g, err := grants.Find(user.Grants, r.PathValue("id"), user.Name)
	if err != nil {
		return nil, err
	}
	return console.Confirm{
		Up:    upTo(user.Ref()),
		Title: "Revoke this permission of " + user.Name + "?", Text: "It ends within a second, in open sessions and for tokens too.",
		Losses: []string{grants.Sentence(g)}, Verb: "Revoke the permission", Keep: "Keep the permission", Back: pageOf(user.Ref(), ""),
	}, nil
}

func (u *users) revoke(r *http.Request, user identity.User) (console.Response, error) {
	g, err := grants.Find(user.Grants, r.PathValue("id"), user.Name)
	if err != nil {
		return nil, err
	}
	err = u.Service.Revoke(r.Context(), user.Ref(), g.ID)
	return console.Redirect{To: pageOf(user.Ref(), ""), Flash: "The permission was revoked."}, err
}

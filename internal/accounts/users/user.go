package users

import (
	"context"
	"net/http"

	"outrigger/internal/accounts/grants"
	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/phrase"
)

// counted is how many tokens or sessions are read at once: as many as a user can have.
const counted = 1000

type userView struct {
	row
	Grants           []grants.Row
	Sessions, Tokens string
	Accounts         []Account
}

func (u *users) ofPath(r *http.Request) (identity.User, error) {
	return u.Service.User(r.Context(), r.PathValue("name"))
}

func (u *users) show(r *http.Request, user identity.User) (console.Response, error) {
	view := userView{row: u.rowOf(r, user), Grants: grants.Rows(user.Grants, user.Name, pageOf(user.Ref(), ""))}
	sessions, tokens, err := u.count(r.Context(), user)
	if err != nil {
		return nil, err
	}
	view.Sessions, view.Tokens = phrase.Count(sessions, "session"), phrase.Count(tokens, "token")
	if view.Accounts, err = u.Options.Accounts(r.Context(), user); err != nil {
		return nil, err
	}
	return console.Page{
		Template: "user", Title: user.Ref(), Up: upTo(user.Ref())[:1],
		Actions: []console.Action{{Label: "Grant a permission", Path: pageOf(user.Ref(), "/grant")}}, Data: view,
	}, nil
}

// count is how many sessions and tokens a user has.
func (u *users) count(ctx context.Context, user identity.User) (sessions, tokens int, err error) {
	open, err := u.Service.Sessions(ctx, user.Ref(), 0, counted)
	if err != nil {
		return 0, 0, err
	}
	all, err := u.Service.Tokens(ctx, user.Ref(), 0, counted)
	return len(open), len(all), err
}

type newForm struct{ *console.Form }

func newPage(form *console.Form) console.Page {
	return console.Page{Template: "user-new", Title: "Add a user", Up: []console.Link{{Label: "Users", Path: path}}, Data: newForm{form}}
}

func (u *users) blank(*http.Request) (console.Response, error) {
	return newPage(console.NewForm()), nil
}

func (u *users) create(r *http.Request, form *console.Form) (console.Response, error) {
	password, made := newPassword(form)
	user, err := u.Service.CreateUser(r.Context(), form.Get("name"), password)
	if err != nil {
		return newPage(form), err
	}
	if made {
		return shown(user, "The user "+user.Name+" was added", password), nil
	}
	return console.Redirect{
		To: pageOf(user.Ref(), ""), Flash: "The user " + user.Name + " was added. Grant a permission, or the user can only sign in.",
	}, nil
}

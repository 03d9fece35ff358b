package users

import (
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/phrase"
	"outrigger/internal/secret"
)

// passwordBytes make a password that cannot be guessed and can be typed.
const passwordBytes = 15

// newPassword is what was typed, else a password that is made and shown once.
func newPassword(form *console.Form) (password secret.Value, made bool) {
	if typed := form.Raw("password"); typed != "" {
		return secret.New(typed), false
	}
	return secret.New(secret.Random(passwordBytes)), true
}

// shown is the one page on which a generated password can be seen.
func shown(user identity.User, title string, password secret.Value) console.Page {
	return console.Page{Template: "user-password-shown", Title: title, Up: upTo(user.Ref()), Data: struct {
		Plain, Back string
	}{password.Reveal(), pageOf(user.Ref(), "")}}
}

type passwordForm struct {
	*console.Form
	Name, Sessions, Back string
	Tokens               string // what revoking them is called; "" where there are none
}

// passwordPage is for the passwords of others: one's own takes the old one too.
func (u *users) passwordPage(r *http.Request, form *console.Form) (p console.Page, user identity.User, err error) {
	if user, err = u.ofPath(r); err != nil {
		return p, user, err
	}
	switch {
	case user.Source != identity.Local:
		return p, user, fault.New(fault.Conflict, "%s signs in with the password of the platform %s. Change it there.", user.Name,
			user.Source)
	case own(r, user):
		return p, user, fault.New(fault.Conflict, "This is your own account. Change the password under Your account, where you enter the "+
			"current one as well.")
	}
	sessions, tokens, err := u.count(r.Context(), user)
	revoke := ""
	if tokens > 0 {
		revoke = "Revoke " + phrase.Count(tokens, "token") + " too"
	}
	return console.Page{
		Template: "user-password", Title: "Set the password of " + user.Name, Up: upTo(user.Ref()),
		Data: passwordForm{form, user.Name, phrase.Count(sessions, "session"), pageOf(user.Ref(), ""), revoke},
	}, user, err
}

func (u *users) blankPassword(r *http.Request) (console.Response, error) {
	if err := u.Service.RequireConfirmed(r.Context()); err != nil { // before a password is typed
		return nil, err
	}
	page, _, err := u.passwordPage(r, console.NewForm().SetBool("tokens", true))
	return page, err
}

func (u *users) setPassword(r *http.Request, form *console.Form) (console.Response, error) {
	page, user, err := u.passwordPage(r, form)
	if err != nil {
		return nil, err
	}
	password, made := newPassword(form)
	if err := u.Service.SetPassword(r.Context(), user.Ref(), password); err != nil {
		return page, err
	}
	if form.Bool("tokens") {
		if _, err := u.Service.RevokeTokens(r.Context(), user.Ref()); err != nil {
			return page, err
		}
	}
	if made {
		return shown(user, "The password of "+user.Name+" was set", password), nil
	}
	return console.Redirect{To: pageOf(user.Ref(), ""), Flash: "The password was set. " + user.Name + " is signed out everywhere."}, nil
}

package account

import (
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

type passwordView struct {
	*console.Form
	User string // for password managers
}

func passwordPage(r *http.Request, form *console.Form) console.Page {
	return console.Page{
		Template: "account-password", Title: "Change password", Section: section,
		Tabs: tabs(passwordPath), Data: passwordView{form, identity.From(r.Context()).Name},
	}
}

func (a *account) showPassword(r *http.Request) (console.Response, error) {
	return passwordPage(r, console.NewForm().SetBool("tokens", true)), nil
}

// changePassword asks for the current password first, so that an unattended
// browser is not enough to take over the account.
func (a *account) changePassword(r *http.Request, form *console.Form) (console.Response, error) {
	page := passwordPage(r, form)
	var wrong fault.Fields
	if form.Raw("current") == "" {
		wrong.Add("current", "Enter your current password.")
	}
	if form.Raw("password") == "" {
		wrong.Add("password", "Enter a new password.")
	} else if form.Raw("password") != form.Raw("again") {
		wrong.Add("again", "The passwords do not match.")
	}
	ctx := r.Context()
	who := identity.From(ctx)
	if err := wrong.Join(identity.JudgePassword(who.Name, secret.New(form.Raw("password")))); err != nil {
		return page, err
	}
	if form.Raw("current") != "" {
		err := a.service.CheckPassword(ctx, who.Ref(), form.Raw("current"), identity.OriginOf(ctx).Address)
		switch {
		case fault.Is(err, fault.Unauthenticated):
			wrong.Add("current", "The password is wrong.")
		case err != nil:
			return page, err
		}
	}
	if err := wrong.Err(); err != nil {
		return page, err
	}
	if err := a.service.SetPassword(ctx, who.Ref(), secret.New(form.Raw("password"))); err != nil {
		return page, err
	}
	said := "Password changed. You were signed out everywhere else."
	if form.Bool("tokens") {
		revoked, err := a.service.RevokeTokens(ctx, who.Ref())
		if err != nil {
			return page, err
		}
		said += " " + revokedText(revoked)
	}
	return console.Redirect{To: passwordPath, Flash: said}, nil
}

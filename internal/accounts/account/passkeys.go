package account

import (
	"cmp"
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

type passkeyView struct {
	*console.Form
	Passkey console.PasskeyForm
}

// passkeyPage asks the browser for a new passkey.
func (a *account) passkeyPage(r *http.Request, form *console.Form) (console.Page, error) {
	view := passkeyView{form, console.PasskeyForm{
		Action: passkeysPath + "/new", Verb: "Register a passkey", Create: true, Back: factorsPath, Why: a.service.NoPasskeys(),
	}}
	if view.Passkey.Why == "" {
		ceremony, err := a.service.NewPasskey(r.Context())
		if err != nil {
			return console.Page{}, err
		}
		view.Passkey.Name, view.Passkey.Options = ceremony.Name, string(ceremony.Options)
	}
	return console.Page{Template: "account-passkey", Title: "Register a passkey", Section: section, Up: upToFactors(), Data: view}, nil
}

func (a *account) newPasskey(r *http.Request) (console.Response, error) {
	return a.passkeyPage(r, console.NewForm())
}

func (a *account) addPasskey(r *http.Request, form *console.Form) (console.Response, error) {
	recovery, err := a.service.AddPasskey(r.Context(), form.Get("name"), form.Get("ceremony"), []byte(form.Raw("passkey")))
	if err == nil {
		return done(recovery, "The passkey “"+form.Get("name")+"” is registered. "+serves(identity.From(r.Context()).Source)), nil
	}
	if !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Conflict) {
		return nil, err
	}
	page, again := a.passkeyPage(r, form)
	return page, cmp.Or(again, err)
}

// serves says what a passkey of a user of a source is for.
func serves(source string) string {
	if source == identity.Local {
		return "You can sign in with it."
	}
	return "You can confirm with it that it is you."
}

// passkeyOfPath is the reader's own passkey of the path.
func (a *account) passkeyOfPath(r *http.Request) (identity.Passkey, error) {
	id, err := console.PathID(r)
	if err != nil {
		return identity.Passkey{}, err
	}
	list, err := a.service.Passkeys(r.Context())
	if err != nil {
		return identity.Passkey{}, err
	}
	for _, k := range list {
		if k.ID == id {
			return k, nil
		}
	}
	return identity.Passkey{}, fault.New(fault.NotFound, "You have no such passkey.")
}

func (a *account) askRemovePasskey(r *http.Request) (console.Response, error) {
	if err := a.service.RequireConfirmed(r.Context()); err != nil {
		return nil, err
	}
	k, err := a.passkeyOfPath(r)
	if err != nil {
		return nil, err
	}
	factors, err := a.service.Factors(r.Context())
	if err != nil {
		return nil, err
	}
	text, losses := last(identity.From(r.Context()).Source, factors)
	return console.Confirm{
		Section: section,
		Title:   "Remove the passkey “" + k.Name + "”?", Text: "It is no longer accepted here. Delete it on the device too. " + text,
		Losses: losses,
		Verb:   "Remove the passkey", Keep: "Keep the passkey", Back: factorsPath,
	}, nil
}

func (a *account) removePasskey(r *http.Request, k identity.Passkey) (console.Response, error) {
	err := a.service.RemovePasskey(r.Context(), k.ID)
	return console.Redirect{To: factorsPath, Flash: "The passkey “" + k.Name + "” was removed."}, err
}

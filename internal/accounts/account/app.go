package account

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"html/template"
	"image/png"
	"net/http"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

type appView struct {
	*console.Form
	QR     template.URL // an image
	Secret string
	Back   string
}

// appPage shows the secret of the app to be set up.
func (a *account) appPage(r *http.Request, form *console.Form) (console.Page, error) {
	app, err := a.service.SetUpApp(r.Context())
	if err != nil {
		return console.Page{}, err
	}
	var image bytes.Buffer
	if err := png.Encode(&image, app.QR); err != nil {
		return console.Page{}, fmt.Errorf("encoding a QR code: %w", err)
	}
	return console.Page{
		Template: "account-app", Title: "Set up an authenticator app", Section: section, Up: upToFactors(),
		Data: appView{form, template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(image.Bytes())),
			spaced(app.Secret.Reveal()), factorsPath},
	}, nil
}

// spaced is a secret in groups of four, as it is easier to type.
func spaced(s string) string {
	var groups []string
	for ; len(s) > 4; s = s[4:] {
		groups = append(groups, s[:4])
	}
	return strings.Join(append(groups, s), " ")
}

func (a *account) showApp(r *http.Request) (console.Response, error) {
	return a.appPage(r, console.NewForm())
}

func (a *account) useApp(r *http.Request, form *console.Form) (console.Response, error) {
	recovery, err := a.service.UseApp(r.Context(), secret.New(form.Get("code")))
	if err == nil {
		return done(recovery, "The authenticator app is set up. "+asks(identity.From(r.Context()).Source)), nil
	}
	if !fault.Is(err, fault.Invalid) {
		return nil, err
	}
	page, again := a.appPage(r, form.Set("code"))
	return page, cmp.Or(again, err)
}

// asks says where users of a source are asked for the app's code.
func asks(source string) string {
	switch source {
	case identity.Local:
		return "Signing in asks for its code from now on."
	case identity.SingleSignOn:
		return "With its code you confirm that it is you."
	}
	return "With its code you confirm that it is you, and signing in with the password of " + source + " asks for it."
}

func (a *account) askRemoveApp(r *http.Request) (console.Response, error) {
	if err := a.service.RequireConfirmed(r.Context()); err != nil {
		return nil, err
	}
	factors, err := a.service.Factors(r.Context())
	if err != nil {
		return nil, err
	}
	text, losses := last(identity.From(r.Context()).Source, factors)
	return console.Confirm{
		Section: section,
		Title:   "Remove the authenticator app?", Text: "Its codes are no longer accepted. " + text, Losses: losses,
		Verb: "Remove the app", Keep: "Keep the app", Back: factorsPath,
	}, nil
}

func (a *account) removeApp(r *http.Request) (console.Response, error) {
	err := a.service.RemoveApp(r.Context())
	return console.Redirect{To: factorsPath, Flash: "The authenticator app was removed."}, err
}

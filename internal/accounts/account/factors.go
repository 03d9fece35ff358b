package account

import (
	"fmt"
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

type factorsView struct {
	identity.Factors
	Source     string // of the reader
	State      console.Badge
	Means      string // what the state is for
	Keys       []identity.Passkey
	NoPasskeys string // why there are none
	Low        bool   // few recovery codes are left
}

// lowRecovery is from how many recovery codes on the page asks for new ones.
const lowRecovery = 3

func (a *account) showFactors(r *http.Request) (console.Response, error) {
	ctx := r.Context()
	factors, err := a.service.Factors(ctx)
	if err != nil {
		return nil, err
	}
	view := factorsView{
		Factors: factors, Source: identity.From(ctx).Source, NoPasskeys: a.service.NoPasskeys(), Low: factors.Recovery <= lowRecovery,
	}
	view.Means = means(view.Source, factors.On())
	view.State = console.Badge{Tone: console.Quiet, Text: "off"}
	if factors.On() {
		view.State = console.Badge{Tone: console.Good, Text: "on"}
	}
	if view.Keys, err = a.service.Passkeys(ctx); err != nil {
		return nil, err
	}
	return console.Page{Template: "account-factors", Title: "Second factor", Section: section, Tabs: tabs(factorsPath), Data: view}, nil
}

// means says what second factors do for users of a source.
func means(source string, on bool) string {
	switch {
	case source == identity.Local && on:
		return "Signing in asks for one of these besides the password. REST, the command line and mail clients need a token."
	case source == identity.Local:
		return "Your password alone is enough to sign in. Set one up to protect your account."
	case source == identity.SingleSignOn && on:
		return "You confirm with one of these that it is you. Signing in is up to your provider."
	case source == identity.SingleSignOn:
		return "You can set one up to confirm that it is you without signing in again. Signing in is up to your provider."
	case on:
		return "You confirm with one of these that it is you, and signing in with the password of " + source +
			" asks for one. On the pages of the platform or a provider, signing in is up to those."
	}
	return "You can set one up to protect your account and to confirm that it is you without the password of " + source + "."
}

func upToFactors() []console.Link { return []console.Link{{Label: "Second factor", Path: factorsPath}} }

// done ends the setting up of a factor: with the recovery codes, where it was the
// first one.
func done(recovery []secret.Value, flash string) console.Response {
	if len(recovery) == 0 {
		return console.Redirect{To: factorsPath, Flash: flash}
	}
	return recoveryPage(recovery, flash)
}

type recoveryView struct {
	Done  string
	Codes []string
	All   string // what is copied
}

func recoveryPage(codes []secret.Value, done string) console.Page {
	view := recoveryView{Done: done}
	for _, c := range codes {
		view.Codes = append(view.Codes, c.Reveal())
		view.All += c.Reveal() + "\n"
	}
	return console.Page{Template: "account-recovery", Title: "Recovery codes", Section: section, Up: upToFactors(), Data: view}
}

func (a *account) askRecovery(r *http.Request) (console.Response, error) {
	if err := a.service.RequireConfirmed(r.Context()); err != nil {
		return nil, err
	}
	factors, err := a.service.Factors(r.Context())
	if err != nil {
		return nil, err
	}
	q := console.Confirm{
		Section: section,
		Title:   "Make new recovery codes?", Text: "You get ten new codes, which are shown once.",
		Verb: "Make new codes", Keep: "Keep the old codes", Back: factorsPath,
	}
	if factors.Recovery > 0 {
		q.Losses = []string{fmt.Sprintf("the recovery codes that you have; %d are unused", factors.Recovery)}
	}
	return q, nil
}

func (a *account) makeRecovery(r *http.Request) (console.Response, error) {
	codes, err := a.service.NewRecoveryCodes(r.Context())
	if err != nil {
		return nil, err
	}
	return recoveryPage(codes, "The codes that you had before no longer work."), nil
}

// last says what removing a factor means.
func last(source string, f identity.Factors) (text string, losses []string) {
	remaining := f.Passkeys
	if f.App {
		remaining++
	}
	if remaining > 1 {
		return "Your other second factors stay.", nil
	}
	if source != identity.Local {
		return "This is your last second factor.", []string{"your recovery codes"}
	}
	return "This is your last second factor: without it, your password alone is enough to sign in.", []string{"your recovery codes"}
}

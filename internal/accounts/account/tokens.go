package account

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

type tokensView struct {
	Tokens []tokenRow
	Pager  console.Pager
}

type tokenRow struct {
	identity.Token
	State console.Badge
}

// scopes are what a token may be for, in the words of its form.
var scopes = []console.Option{
	{Value: string(identity.All), Label: "Everything", Hint: "everything you may do"},
	{Value: string(identity.Read), Label: "Reading", Hint: "read everything you may see, change nothing"},
	{Value: string(identity.Backup), Label: "Backups", Hint: "take backups of the database, for system administrators"},
	{Value: string(identity.Monitoring), Label: "Monitoring", Hint: "read the mail queue endpoints and /metrics"},
	{Value: string(identity.Builds), Label: "Builds", Hint: "post build statuses"},
	{Value: string(identity.Mail), Label: "Mail", Hint: "send mail through the relay (SMTP AUTH)"},
}

// lives are how long a token may last, in days; 0 is for ever.
var lives = []console.Option{
	{Value: "30", Label: "30 days"}, {Value: "90", Label: "90 days"}, {Value: "365", Label: "1 year"}, {Value: "0", Label: "until revoked"},
}

func (a *account) listTokens(r *http.Request) (console.Response, error) {
	after, err := cursor(r)
	if err != nil {
		return nil, err
	}
	tokens, err := a.service.Tokens(r.Context(), identity.From(r.Context()).Ref(), after, listed+1)
	if err != nil {
		return nil, err
	}
	var view tokensView
	tokens, view.Pager = console.Paged(tokens, listed, tokensPath, after == 0, func(t identity.Token) int64 { return t.ID })
	for _, t := range tokens {
		row := tokenRow{t, console.Badge{Tone: console.Good, Text: "valid"}}
		if !t.ExpiresAt.IsZero() && !a.now().Before(t.ExpiresAt) {
			row.State = console.Badge{Tone: console.Quiet, Text: "expired"}
		} else if !t.RestsSince.IsZero() {
			row.State = console.Badge{Tone: console.Warn, Text: "refused since a restore"}
		}
		view.Tokens = append(view.Tokens, row)
	}
	return console.Page{
		Template: "account-tokens", Title: "Tokens", Section: section, Tabs: tabs(tokensPath),
		Actions: []console.Action{{Label: "Create a token", Path: newTokenPath}}, Data: view,
	}, nil
}

type tokenForm struct {
	*console.Form
	Scopes, Lives []console.Option
}

func newTokenPage(r *http.Request, form *console.Form) console.Page {
	mine := identity.From(r.Context()).TokenScopes()
	offered := slices.DeleteFunc(slices.Clone(scopes), func(o console.Option) bool {
		return !slices.Contains(mine, identity.Scope(o.Value))
	})
	return console.Page{
		Template: "account-token-new", Title: "Create a token", Section: section,
		Up: []console.Link{{Label: "Tokens", Path: tokensPath}}, Data: tokenForm{form, offered, lives},
	}
}

func (a *account) blankToken(r *http.Request) (console.Response, error) {
	return newTokenPage(r, console.NewForm().Set("scope", string(identity.Read)).Set("days", "90")), nil
}

// tokenView is the one page on which a token can be seen.
type tokenView struct {
	identity.Token
	Plain string
}

func (a *account) createToken(r *http.Request, form *console.Form) (console.Response, error) {
	page := newTokenPage(r, form)
	expires, err := a.expiry(form.Get("days"))
	var wrong fault.Fields
	if err := wrong.Join(err); err != nil {
		return page, err
	}
	if len(wrong) > 0 {
		asked := identity.Token{Name: form.Get("name"), Scope: identity.Scope(form.Get("scope"))}
		if err := wrong.Join(identity.JudgeToken(asked)); err != nil {
			return page, err
		}
		return page, wrong.Err()
	}
	plain, token, err := a.service.CreateToken(r.Context(), identity.From(r.Context()).Ref(), form.Get("name"),
		identity.Scope(form.Get("scope")), expires)
	if err != nil {
		return page, err
	}
	return console.Page{
		Template: "account-token", Title: "The token " + token.Name, Section: section,
		Up: []console.Link{{Label: "Tokens", Path: tokensPath}}, Data: tokenView{token, plain.Reveal()},
	}, nil
}

func (a *account) expiry(days string) (time.Time, error) {
	for _, l := range lives {
		if l.Value == days {
			n, err := strconv.Atoi(days)
			if err != nil || n == 0 {
				return time.Time{}, err
			}
			return a.now().AddDate(0, 0, n), nil
		}
	}
	var wrong fault.Fields
	wrong.Add("days", "Choose how long the token is valid.")
	return time.Time{}, wrong.Err()
}

// mine answers the reader's own token of the path; one of another user is not found.
func (a *account) mine(r *http.Request) (identity.Token, error) {
	id, err := console.PathID(r)
	if err != nil {
		return identity.Token{}, err
	}
	t, err := a.service.TokenByID(r.Context(), id)
	if err == nil && t.UserID != identity.From(r.Context()).UserID {
		err = fault.New(fault.NotFound, "There is no such token.")
	}
	return t, err
}

func (a *account) confirmRevoke(_ *http.Request, t identity.Token) (console.Response, error) {
	return console.Confirm{
		Section: section,
		Title:   "Revoke the token “" + t.Name + "”?", Text: "Clients that use it are refused within a second. You cannot undo this.",
		Verb: "Revoke the token", Keep: "Keep the token", Back: tokensPath,
	}, nil
}

func (a *account) revokeToken(r *http.Request, t identity.Token) (console.Response, error) {
	err := a.service.RevokeToken(r.Context(), t.ID)
	return console.Redirect{To: tokensPath, Flash: "The token “" + t.Name + "” was revoked."}, err
}

// cursor is where a list goes on, 0 for its start.
func cursor(r *http.Request) (int64, error) {
	after := r.URL.Query().Get("after")
	if after == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(after, 10, 64)
	if err != nil {
		return 0, fault.Wrap(err, fault.Invalid, "There is no such page of the list. Go to the first page.")
	}
	return id, nil
}

func revokedText(n int) string {
	switch n {
	case 0:
		return "You have no tokens."
	case 1:
		return "1 token was revoked."
	}
	return strconv.Itoa(n) + " tokens were revoked."
}

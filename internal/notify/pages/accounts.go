package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/rest"
)

func (p *Pages) registerAccounts(c *console.Console) {
	one := notify.AccountsPath + "/{id}"
	c.Handle("GET "+notify.AccountsPath, console.SignedIn, p.listAccounts, "accounts")
	c.Handle("POST "+notify.AccountsPath+"/authorize", console.SignedIn, console.WithForm(p.beginAuthorization), "authorize")
	c.Handle("GET "+one+"/revoke", console.SignedIn, console.Of(p.account, p.confirmRevoke))
	c.Handle("POST "+one+"/revoke", console.SignedIn, console.Of(p.account, p.revoke))
	c.Handle("GET "+notify.CallbackPath("{connection}"), console.SignedIn, p.completeAuthorization, "not-authorized")
}

// accountRow is an account on the list.
type accountRow struct {
	notify.Authorization
	Badge  console.Badge
	State  string // in a sentence
	Revoke string // its page; "" where it is revoked
}

// cloudConnection is a platform whose accounts can be authorised.
type cloudConnection struct {
	Name, Host, Callback string
	Ready                bool // it has an OAuth client
}

// maxAccounts is how many accounts the page shows: an installation has one for
// each person who sets rules up.
const maxAccounts = 500

func (p *Pages) listAccounts(r *http.Request) (console.Response, error) {
	all, err := p.Authorizations.List(r.Context(), 0, maxAccounts)
	if err != nil {
		return nil, err
	}
	view := struct {
		Rows        []accountRow
		Connections []cloudConnection
		All         bool
	}{All: identity.From(r.Context()).May(identity.Admin, identity.Resource{})}
	for _, a := range all {
		view.Rows = append(view.Rows, accountRowOf(a))
	}
	cloud, err := p.Authorizations.Cloud(r.Context())
	if err != nil {
		return nil, err
	}
	for i := range cloud {
		c := &cloud[i]
		view.Connections = append(view.Connections, cloudConnection{c.Name, hostOf(c.BaseURL),
			rest.Link(r.Context(), notify.CallbackPath(c.Name)), c.HasOAuth()})
	}
	return console.Page{Template: "accounts", Title: "Cloud accounts", Section: "Notifications", Tabs: cloudTabs(notify.AccountsPath),
		Data: view}, nil
}

func accountRowOf(a notify.Authorization) accountRow {
	row := accountRow{Authorization: a, Badge: console.Badge{Tone: console.Good, Text: "authorised"}, Revoke: accountPage(a.ID) + "/revoke"}
	switch {
	case a.State == notify.AuthorizationRevoked:
		row.Badge, row.Revoke = console.Badge{Tone: console.Quiet, Text: "revoked"}, ""
		row.State = "Its rules take no events until it is authorised again."
	case a.State == notify.AuthorizationWithdrawn:
		row.Badge = console.Badge{Tone: console.Bad, Text: "withdrawn"}
		row.State = a.Reason + " Its rules still take events, but cannot be changed."
	case a.User == identity.UserDisabled:
		row.Badge = console.Badge{Tone: console.Warn, Text: "not used"}
		row.State = "The user " + a.AuthorizedBy + " is disabled. The account is not used until the user is enabled again, or another user " +
			"authorises it."
	case a.Reason != "":
		row.Badge = console.Badge{Tone: console.Warn, Text: "authorised"}
		row.State = "The last refresh failed and will be tried again: " + a.Reason
	}
	return row
}

func accountPage(id int64) string { return notify.AccountsPath + "/" + strconv.FormatInt(id, 10) }

func hostOf(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil {
		return baseURL
	}
	return u.Host
}

// beginAuthorization shows the way to the platform: a link, since a form may
// lead to our own pages only.
func (p *Pages) beginAuthorization(r *http.Request, form *console.Form) (console.Response, error) {
	name := form.Get("connection")
	back := console.LocalPath(cmp.Or(form.Get("to"), notify.AccountsPath))
	location, err := p.Authorizations.Begin(r.Context(), name, back)
	if err != nil {
		return nil, err
	}
	host := hostOf(location)
	return console.Page{
		Template: "authorize", Title: "Authorise Outrigger on " + host, Section: "Notifications", Up: accountsUp,
		Data: struct{ Host, Location, Back string }{host, location, back},
	}, nil
}

var accountsUp = []console.Link{{Label: "Cloud accounts", Path: notify.AccountsPath}}

// completeAuthorization is where a platform sends users back to.
func (p *Pages) completeAuthorization(r *http.Request) (console.Response, error) {
	back, a, err := p.Authorizations.Complete(r.Context(), r.PathValue("connection"), admin.ReadCallback(r.URL.Query()))
	back = console.LocalPath(cmp.Or(back, notify.AccountsPath))
	if err == nil {
		return console.Redirect{To: back, Flash: "Outrigger may use the account " + a.AccountName + "."}, nil
	}
	status := map[fault.Code]int{fault.Invalid: http.StatusBadRequest, fault.Conflict: http.StatusConflict,
		fault.Unavailable: http.StatusServiceUnavailable}[fault.CodeOf(err)]
	if status == 0 {
		return nil, err
	}
	return console.Page{
		Template: "not-authorized", Title: "Nothing was authorised", Section: "Notifications", Up: accountsUp, Status: status,
		Data: struct{ Text, Back string }{fault.As(err).Message, back},
	}, nil
}

// account returns the account of the path to whom it concerns.
func (p *Pages) account(r *http.Request) (notify.Authorization, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return notify.Authorization{}, identity.Missing(r.Context(), "There is no authorisation %q.", r.PathValue("id"))
	}
	return p.Authorizations.Get(r.Context(), id)
}

func (p *Pages) confirmRevoke(r *http.Request, a notify.Authorization) (console.Response, error) {
	confirm := console.Confirm{
		Title: "Revoke the account " + a.AccountName + "?", Verb: "Revoke the account", Keep: "Keep the account", Back: notify.AccountsPath,
		Text: "Outrigger stops using the account and deletes its tokens. Until the account is authorised again, its rules take no events and " +
			"cannot be changed, and activity reports that need it fail. To end the access on the platform too, remove Outrigger from the " +
			"account's authorised apps there.",
	}
	if a.Rules > 0 {
		rules, err := p.Authorizations.RulesOf(r.Context(), &a)
		if err != nil {
			return nil, err
		}
		confirm.Losses = []string{"the messages of " + rules + " about events that arrive before the account is authorised again"}
	}
	return confirm, nil
}

func (p *Pages) revoke(r *http.Request, a notify.Authorization) (console.Response, error) {
	err := p.Authorizations.Revoke(r.Context(), a.ID)
	return console.Redirect{To: notify.AccountsPath, Flash: "The account " + a.AccountName + " is revoked."}, err
}

// accountNotices are about accounts that have to be authorised again, to those
// who can do so, and to an ADMIN; other administrators of a repository hear of
// its rules.
func (p *Pages) accountNotices(ctx context.Context) (list []console.Notice, err error) {
	all, err := p.Authorizations.List(ctx, 0, maxAccounts)
	if err != nil {
		return nil, err
	}
	for i := range all {
		a := &all[i]
		if a.State == notify.AuthorizationActive || a.State == notify.AuthorizationRevoked && a.Rules == 0 {
			continue
		}
		text, err := p.accountNotice(ctx, a)
		if err != nil {
			return nil, err
		}
		list = append(list, console.Notice{Kind: "account", Key: fmt.Sprintf("account %d", a.ID), Text: text, Link: notify.AccountsPath,
			Since: a.StateAt, Remedy: console.Remedy{Label: "Authorise", Path: notify.AccountsPath}})
	}
	if identity.From(ctx).May(identity.Admin, identity.Resource{}) {
		return list, nil
	}
	repositories, err := p.Rules.Unauthorized(ctx)
	for _, one := range repositories {
		at := rulePlace{notify.RepositoryLevel, one.Connection, one.Workspace, one.Repository}
		text := "1 rule of the repository " + at.Name() + " needs its account to be authorised again, by its user, or by saving the rule " +
			"with your own account."
		if one.Unauthorized > 1 {
			text = strconv.Itoa(one.Unauthorized) + " rules of the repository " + at.Name() + " need their accounts to be authorised again, by " +
				"their users, or by saving the rules with your own account."
		}
		list = append(list, console.Notice{Kind: "account", Key: "accounts of " + one.Connection + "/" + at.Name(), Text: text, Link: at.list(),
			Since: one.UnauthorizedAt, Remedy: console.Remedy{Label: "Authorise", Path: notify.AccountsPath}})
	}
	return list, err
}

// accountNotice says why an account has to be authorised again, since when, and
// what becomes of its rules meanwhile.
func (p *Pages) accountNotice(ctx context.Context, a *notify.Authorization) (string, error) {
	since := a.StateAt.UTC().Format("2006-01-02 15:04 UTC")
	text := fmt.Sprintf("The account “%s” of “%s”, which %s authorised, ", a.AccountName, a.Connection, a.AuthorizedBy)
	one, several := " takes no events until the account is authorised again.", " take no events until the account is authorised again."
	if a.State == notify.AuthorizationRevoked {
		text += "was revoked in Outrigger at " + since + "."
	} else {
		text += "has had to be authorised again since " + since + ". " + a.Reason
		one, several = " still takes events, but cannot be changed.", " still take events, but cannot be changed."
	}
	if a.Rules == 0 {
		return text, nil
	}
	rules, err := p.Authorizations.RulesOf(ctx, a)
	if a.Rules == 1 {
		return text + " Its " + strings.TrimPrefix(rules, "1 ") + one, err
	}
	return text + " Its " + rules + several, err
}

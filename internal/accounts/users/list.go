package users

import (
	"net/http"
	"strings"
	"time"

	"outrigger/internal/accounts/grants"
	"outrigger/internal/console"
	"outrigger/internal/identity"
)

type listView struct {
	Users []row
	Pager console.Pager
	Pause pauses
}

// row is a user as the list shows them.
type row struct {
	identity.User
	Page     string
	State    console.Badge
	May      []string // what the grants allow, a sentence each
	Platform string   // what the user may do besides, by the platform
	Groups   []string // and through groups of single sign-on, a sentence each
	Own      bool
	Second   string // the second factors
}

func (u *users) list(r *http.Request) (console.Response, error) {
	after := r.URL.Query().Get("after")
	found, err := u.Service.Users(r.Context(), after, listed+1)
	if err != nil {
		return nil, err
	}
	var view listView
	found, view.Pager = console.Paged(found, listed, path, after == "", identity.User.Ref)
	if after == "" {
		if view.Pause, err = u.pauses(r); err != nil {
			return nil, err
		}
	}
	for _, user := range found {
		view.Users = append(view.Users, u.rowOf(r, user))
	}
	return console.Page{
		Template: "users", Title: "Users", Actions: []console.Action{{Label: "Add a user", Path: newPath}}, Data: view,
	}, nil
}

func (u *users) rowOf(r *http.Request, user identity.User) row {
	out := row{User: user, Page: pageOf(user.Ref(), ""), State: console.Badge{Tone: console.Good, Text: "enabled"}, Own: own(r, user),
		Second: factorsText(user.Factors)}
	switch {
	case user.Disabled():
		out.State = console.Badge{Tone: console.Quiet, Text: "disabled"}
	case user.Pause.Begun:
		out.State = console.Badge{Tone: console.Warn, Text: "paused"}
	case user.Pause.Near:
		out.State = console.Badge{Tone: console.Warn, Text: "paused soon"}
	}
	for _, g := range user.Grants {
		out.May = append(out.May, grants.Sentence(g))
	}
	for _, g := range user.ByGroups {
		out.Groups = append(out.Groups, byGroup(g, user.ClaimedUntil))
	}
	out.May = append(out.May, out.Groups...)
	if user.Source != identity.Local && user.Source != identity.SingleSignOn {
		out.Platform = "What the user administers on " + user.Source + "."
	}
	return out
}

// byGroup says what a group of a provider gives.
func byGroup(g identity.GroupGrant, until time.Time) string {
	return strings.TrimSuffix(grants.Sentence(g.Grant), ".") + ", through the group " + g.Group +
		" of single sign-on until " + until.UTC().Format("2006-01-02 15:04 UTC") + " or the next sign-in."
}

// pauses are what the list says of users who do not sign in.
type pauses struct {
	Soon         []soonRow
	Tokens       []pausedToken
	TokensHidden int
}

// soonRow is a user who will be paused.
type soonRow struct {
	identity.User
	Page string
}

// pausedToken is a token that works on while its owner is paused.
type pausedToken struct {
	identity.Token
	Owner, Revoke string
}

func (u *users) pauses(r *http.Request) (p pauses, err error) {
	soon, err := u.Service.PausingUsers(r.Context(), listed)
	if err != nil {
		return p, err
	}
	for _, user := range soon {
		p.Soon = append(p.Soon, soonRow{user, pageOf(user.Ref(), "")})
	}
	tokens, err := u.Service.PausedTokens(r.Context())
	p.TokensHidden = max(0, len(tokens)-counted)
	for _, t := range tokens[:min(len(tokens), counted)] {
		p.Tokens = append(p.Tokens, pausedToken{t, pageOf(t.User, ""), pageOf(t.User, console.Path("/tokens/%d/revoke", t.ID))})
	}
	return p, err
}

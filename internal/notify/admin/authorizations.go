package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/limit"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
	"outrigger/internal/secret"
)

// Authorizations has the operations on the accounts of cloud platforms, each
// with its permission check: the REST API and the console both go through it.
type Authorizations struct {
	Store *store.Store
	// Location is the platform's page on which a user authorises Outrigger.
	Location func(c *notify.Connection, state, challenge, callback string) string
	// Exchange has the platform give the account that a code stands for, and its
	// tokens. Errors: fault.Conflict where the platform refuses the code, else
	// fault.Unavailable, both in its words.
	Exchange func(ctx context.Context, c *notify.Connection, code, verifier secret.Value, callback string) (notify.GrantedAccount, error)
	// UserStates returns the states of the users who authorised accounts.
	UserStates func(ctx context.Context, ids ...int64) (map[int64]identity.UserState, error)
	BaseURL    string // where users reach this program
	Clock      func() time.Time

	begun limit.PerMinute[string]
}

// begunAMinute is how many requests a user may make in a minute, on each node: each
// may end in a question to the platform about a code.
const begunAMinute = 10

// Begin makes a request to authorise an account, and returns the address of the
// platform to open. back is the page to come back to. It needs a permission
// anywhere on the connection. Errors: fault.Conflict where the platform has no
// such authorisations, or the connection no OAuth client; fault.RateLimited.
func (s *Authorizations) Begin(ctx context.Context, connection, back string) (location string, err error) {
	c, err := s.cloud(ctx, connection)
	if err != nil {
		return "", err
	}
	if wait := s.begun.Take(identity.From(ctx).Ref(), begunAMinute, s.Clock()); wait > 0 {
		return "", fault.TooOften(wait, "You began to authorise an account %d times within a minute. Wait a moment.", begunAMinute)
	}
	r := notify.NewAuthorizationRequest(identity.From(ctx), c.Name, back, s.Clock())
	if err := s.Store.KeepRequest(ctx, r); err != nil {
		return "", err
	}
	return s.Location(c, r.State.Reveal(), r.Challenge(), s.callback(c)), nil
}

// Cloud lists the connections whose accounts the caller may authorise.
func (s *Authorizations) Cloud(ctx context.Context) (notify.Connections, error) {
	if err := s.Store.Renew(ctx); err != nil {
		return nil, err
	}
	var list notify.Connections
	for _, c := range s.Store.Platforms().Connections {
		if c.Edition() == notify.Cloud && administersIn(identity.From(ctx), c.Name) {
			list = append(list, c)
		}
	}
	return list, nil
}

func (s *Authorizations) cloud(ctx context.Context, name string) (*notify.Connection, error) {
	if identity.From(ctx) == nil {
		return nil, identity.ErrUnauthenticated()
	}
	if err := s.Store.Renew(ctx); err != nil {
		return nil, err
	}
	c := s.Store.Platforms().Connections.Find(name)
	switch {
	case c == nil || !administersIn(identity.From(ctx), c.Name):
		return nil, identity.Missing(ctx, "There is no connection %q.", name)
	case c.Edition() != notify.Cloud:
		return nil, fault.New(fault.Conflict, "The connection %s is a self-hosted platform, which has an account of its own; only accounts "+
			"of cloud platforms are authorised.", c.Name)
	case !c.HasOAuth():
		return nil, fault.New(fault.Conflict, "The connection %s has no OAuth client yet. A system administrator creates one on the "+
			"platform, with the callback URL %s, and enters its key and secret in the connection.", c.Name, s.callback(c))
	}
	return c, nil
}

// List lists the accounts that the caller authorised, for an ADMIN those of all.
func (s *Authorizations) List(ctx context.Context, after int64, limit int) ([]notify.Authorization, error) {
	who := identity.From(ctx)
	if who == nil {
		return nil, identity.ErrUnauthenticated()
	}
	of := who.UserID
	if who.May(identity.Admin, identity.Resource{}) {
		of = 0
	}
	list, err := s.Store.ListAuthorizations(ctx, of, after, limit)
	if err != nil {
		return nil, err
	}
	users := make([]int64, len(list))
	for i := range list {
		users[i] = list[i].UserID
	}
	states, err := s.UserStates(ctx, users...)
	for i := range list {
		list[i].User = states[list[i].UserID]
	}
	return list, err
}

// maxDependents is how many accounts of a user are looked at: several times as
// many as a person has.
const maxDependents = 100

// Dependents says in sentences which rules belong to the accounts that a user
// authorised. It checks no permission.
func (s *Authorizations) Dependents(ctx context.Context, user int64) (sentences []string, err error) {
	list, err := s.Store.ListAuthorizations(ctx, user, 0, maxDependents)
	for _, a := range list {
		switch {
		case a.State == notify.AuthorizationRevoked || a.Rules == 0:
		case a.Rules == 1:
			sentences = append(sentences, fmt.Sprintf("1 rule of %s belongs to the account %s, which this user authorised. It still takes "+
				"events, and asks for the account to be authorised again.", a.Connection, a.AccountName))
		default:
			sentences = append(sentences, fmt.Sprintf("%d rules of %s belong to the account %s, which this user authorised. They still take "+
				"events, and ask for the account to be authorised again.", a.Rules, a.Connection, a.AccountName))
		}
	}
	return sentences, err
}

// Get returns one of those that List lists: fault.NotFound for a SYS_ADMIN, else
// fault.Forbidden as for one of others.
func (s *Authorizations) Get(ctx context.Context, id int64) (notify.Authorization, error) {
	who := identity.From(ctx)
	if who == nil {
		return notify.Authorization{}, identity.ErrUnauthenticated()
	}
	a, err := s.Store.Authorization(ctx, id)
	switch {
	case fault.Is(err, fault.NotFound):
		return a, identity.Missing(ctx, "There is no authorisation %d.", id)
	case err != nil:
		return a, err
	case a.UserID != who.UserID && !who.May(identity.Admin, identity.Resource{}):
		return notify.Authorization{}, identity.Missing(ctx, "There is no authorisation %d.", id)
	}
	return a, nil
}

// maxRulesNamed is how many rules of an account are named: a line of text.
const maxRulesNamed = 5

// RulesOf counts the rules that belong to an account and names the first that who
// asks administers: "2 rules (Builds of acme/shop, Tags of acme/site)".
func (s *Authorizations) RulesOf(ctx context.Context, a *notify.Authorization) (string, error) {
	first, err := s.Store.AuthorizationRules(ctx, a.ID, maxRulesNamed)
	if err != nil {
		return "", err
	}
	var names []string
	who := identity.From(ctx)
	for i := range first {
		if r := &first[i]; who.May(r.Access()) {
			names = append(names, r.Name+" of "+r.ProjectKey+"/"+r.RepositoryKey)
		}
	}
	if more := a.Rules - len(names); more > 0 && len(names) > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	text := fmt.Sprintf("%d rules", a.Rules)
	if a.Rules == 1 {
		text = "1 rule"
	}
	if len(names) > 0 {
		text += " (" + strings.Join(names, ", ") + ")"
	}
	return text, nil
}

// Revoke ends an authorisation: its tokens are dropped, and its rules take
// nothing until it is given again.
func (s *Authorizations) Revoke(ctx context.Context, id int64) error {
	if _, err := s.Get(ctx, id); err != nil {
		return err
	}
	return s.Store.RevokeAuthorization(ctx, actor(ctx), id)
}

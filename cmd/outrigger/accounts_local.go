package main

import (
	"context"
	"errors"
	"time"

	"outrigger/internal/accounts/api"
	"outrigger/internal/app"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// atOnce is more items than any list has: with --local, lists are not read in pages.
const atOnce = 1_000_000

// localAccounts works on the database itself.
type localAccounts struct{ *identity.Service }

func (f accountFlags) withLocal(ctx context.Context, s streams, use func(context.Context, accounts) error) error {
	return f.withUsers(ctx, s, func(ctx context.Context, service *identity.Service) error {
		return use(ctx, localAccounts{service})
	})
}

// withUsers opens the database that the configuration names, has use work on its users,
// and closes it.
func (f configFlag) withUsers(ctx context.Context, s streams, use func(context.Context, *identity.Service) error) error {
	cfg, err := loadConfig(s, f.Config, nil)
	if err != nil {
		return err
	}
	a, err := app.New(cfg, app.Options{Version: version})
	if err != nil {
		return err
	}
	service, err := a.StartAccounts(ctx)
	if err != nil {
		return err
	}
	err = use(app.AsCommand(ctx), service)
	return errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
}

func (a localAccounts) CreateUser(ctx context.Context, name string, password secret.Value) error {
	_, err := a.Service.CreateUser(ctx, name, password)
	return err
}

func (a localAccounts) Users(ctx context.Context) ([]api.User, error) {
	stored, err := a.Service.Users(ctx, "", atOnce)
	all := make([]api.User, len(stored))
	for i, u := range stored {
		all[i] = api.UserOf(u)
	}
	return all, err
}

func (a localAccounts) SetPassword(ctx context.Context, name string, password secret.Value, endTokens bool) error {
	err := a.Service.SetPassword(ctx, name, password)
	if err == nil && endTokens {
		_, err = a.RevokeTokens(ctx, name)
	}
	return err
}

func (a localAccounts) DeleteUser(ctx context.Context, name string) ([]string, error) {
	stopped, err := a.Dependents(ctx, name)
	if err != nil {
		return nil, err
	}
	return stopped, a.Service.DeleteUser(ctx, name)
}

func (a localAccounts) RemoveSecondFactor(ctx context.Context, name string) error {
	return a.RemoveFactors(ctx, name)
}

func (a localAccounts) EnableUser(ctx context.Context, name string, keep []int64) error {
	_, err := a.Service.EnableUser(ctx, name, keep)
	return err
}

func (a localAccounts) CreateToken(
	ctx context.Context, user, name string, scope identity.Scope, expires time.Time,
) (api.CreatedToken, error) {
	if user == "" {
		return api.CreatedToken{}, errNoOwner
	}
	plain, t, err := a.Service.CreateToken(ctx, user, name, scope, expires)
	return api.CreatedToken{Token: t, Plain: plain.Reveal()}, err
}

func (a localAccounts) Tokens(ctx context.Context, user string) ([]identity.Token, error) {
	if user == "" {
		return nil, errNoOwner
	}
	return a.Service.Tokens(ctx, user, 0, atOnce)
}

// errNoOwner: without a server there is no signed-in user.
var errNoOwner = usage("--local needs --for, the owner of the token")

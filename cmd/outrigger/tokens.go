package main

import (
	"context"
	"strconv"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/identity"
)

type tokensCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Create a token and print it. It is shown only once."`
	List   tokenListCmd   `cmd:"" help:"List tokens."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke a token."`
}

// tokenOwner is whose tokens a command is about.
type tokenOwner struct {
	For string `help:"The owner of the token. Default: the user who is signed in." placeholder:"NAME"`
}

type tokenCreateCmd struct {
	accountFlags
	tokenOwner
	Scope   identity.Scope  `required:"" enum:"all,read,backup,monitoring,builds,mail" help:"${scope}" placeholder:"SCOPE"`
	Expires config.Duration `help:"Expire after this time, such as 90d. Default: never." placeholder:"DURATION"`
	Name    string          `arg:"" help:"What the token is for."`
}

func (c tokenCreateCmd) Run(ctx context.Context, s streams) error {
	var expires time.Time
	if c.Expires > 0 {
		expires = time.Now().Add(time.Duration(c.Expires)).UTC().Truncate(time.Second)
	}
	return c.with(ctx, s, func(ctx context.Context, a accounts) error {
		t, err := a.CreateToken(ctx, c.For, c.Name, c.Scope, expires)
		if err != nil {
			return err
		}
		return s.say(c.JSON, t, "%s", t.Plain)
	})
}

type tokenListCmd struct {
	accountFlags
	tokenOwner
}

func (c tokenListCmd) Run(ctx context.Context, s streams) error {
	return c.with(ctx, s, func(ctx context.Context, a accounts) error {
		tokens, err := a.Tokens(ctx, c.For)
		if err != nil {
			return err
		}
		header := []string{"ID", "USER", "NAME", "SCOPE", "EXPIRES", "LAST USED"}
		return printList(s, c.JSON, tokens, header, func(t *identity.Token) []string {
			return []string{strconv.FormatInt(t.ID, 10), t.User, t.Name, string(t.Scope), stamp(t.ExpiresAt), stamp(t.UsedAt)}
		})
	})
}

type tokenRevokeCmd struct {
	accountFlags
	ID int64 `arg:"" help:"The token's id, from tokens list."`
}

func (c tokenRevokeCmd) Run(ctx context.Context, s streams) error {
	return c.with(ctx, s, func(ctx context.Context, a accounts) error { return a.RevokeToken(ctx, c.ID) })
}

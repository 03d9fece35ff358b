package main

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/identity"
)

type userConfirmCmd struct {
	Local bool `help:"Work on the database directly, while the server is stopped. The configuration says where it is. There is no other way."`
	configFlag
	JSON bool   `help:"Print JSON."`
	Name string `arg:"" help:"The user's name, with the source: oidc:ann."`
}

// errConfirmLocal: who has a server's credentials, or a token, could else hand over
// accounts of others.
var errConfirmLocal = usage("a one-time code is only made on the machine of the server: stop the server, and use --local")

func (c userConfirmCmd) Run(ctx context.Context, s streams) error {
	if !c.Local {
		return errConfirmLocal
	}
	return c.withUsers(ctx, s, func(ctx context.Context, users *identity.Service) error {
		code, expires, err := users.MakeConfirmCode(ctx, c.Name)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.out, struct {
				Name    string    `json:"name"`
				Code    string    `json:"code"`
				Expires time.Time `json:"expiresAt"`
			}{c.Name, code.Reveal(), expires.UTC()})
		}
		fmt.Fprintf(s.err, "The code works once, until %s. Start the server; %s enters it where the console asks to confirm, and sets up a "+
			"second factor.\n", stamp(expires), c.Name)
		_, err = fmt.Fprintln(s.out, code.Reveal())
		return err
	})
}

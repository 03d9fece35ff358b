package client

import (
	"context"
	"net/url"

	"outrigger/internal/notify"
)

// user is an account of the platform.
type user struct {
	Name, DisplayName string
	Active            *bool // nil: it is not said
}

// inactive reports whether the platform says that the account may not sign in.
func (u user) inactive() bool { return u.Active != nil && !*u.Active }

// Member reports whether the user is in the group. Any account may ask that.
func (cl *Client) Member(ctx context.Context, c *notify.Connection, name, group string) (bool, error) {
	return cl.user(ctx, c, name, url.Values{"group": {group}})
}

// user reports whether a list of users has the name. The platform's filter finds
// it anywhere in names and addresses, so that the answer has others too.
func (cl *Client) user(ctx context.Context, c *notify.Connection, name string, query url.Values) (found bool, err error) {
	query.Set("filter", name)
	err = list(ctx, cl, c, apiPath+"/users", query, func(u user) bool {
		found = notify.Fold(u.Name) == notify.Fold(name)
		return found
	})
	return found, err
}

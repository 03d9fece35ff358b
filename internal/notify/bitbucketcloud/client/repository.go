package client

import (
	"context"
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/secret"
)

// CheckRepository reports whether the account that a token is of may read a
// repository. fault.NotFound: the platform shows it none.
func (cl *Client) CheckRepository(ctx context.Context, c *notify.Connection, token secret.Value, at notify.RepositoryRef) error {
	err := cl.get(ctx, c, token, repositoryPath(at), nil, nil)
	if r := restclient.RefusalOf(err); r != nil && r.Status == http.StatusNotFound {
		return fault.Wrap(r, fault.NotFound, "%s", r.Sentence)
	}
	return unreadable(at, err)
}

package client

import (
	"context"
	"net/http"
	"net/url"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/secret"
)

func repositoryPath(at notify.RepositoryRef) string {
	return "/repositories/" + url.PathEscape(at.ProjectKey) + "/" + url.PathEscape(at.RepositoryKey)
}

// CheckRepository reports whether the account that a token is of may read a
// repository. fault.NotFound: the platform shows it none.
func (cl *Client) CheckRepository(ctx context.Context, c *notify.Connection, token secret.Value, at notify.RepositoryRef) error {
	err := cl.get(ctx, c, token, repositoryPath(at), nil, nil)
	if r := restclient.RefusalOf(err); r != nil && r.Status == http.StatusNotFound {
		return fault.Wrap(r, fault.NotFound, "%s", r.Sentence)
	}
	return unreadable(at, err)
}

// unreadable says what to do about a repository that the platform does not show
// to the account.
func unreadable(at notify.RepositoryRef, err error) error {
	r := restclient.RefusalOf(err)
	switch {
	case r == nil:
	case r.Status == http.StatusForbidden && r.Name != scopeMissing:
		return fault.Wrap(r, fault.Unavailable, "%s Give the account access to %s/%s on the platform.", r.Sentence, at.ProjectKey,
			at.RepositoryKey)
	case r.Status == http.StatusNotFound:
		return fault.Wrap(r, fault.Unavailable, "%s Check that there is a repository %s/%s, and that the account has access to it.",
			r.Sentence, at.ProjectKey, at.RepositoryKey)
	}
	return err
}

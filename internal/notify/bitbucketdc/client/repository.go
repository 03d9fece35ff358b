package client

import (
	"context"
	"net/url"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
)

// What the platform calls a 404 that is about a repository, and no wrong address.
var missing = map[string]bool{
	"com.atlassian.bitbucket.repository.NoSuchRepositoryException": true,
	"com.atlassian.bitbucket.project.NoSuchProjectException":       true,
}

// CheckRepository reports whether the connection's account may read a repository.
// fault.NotFound: the platform says that there is none.
func (cl *Client) CheckRepository(ctx context.Context, c *notify.Connection, at notify.RepositoryRef) error {
	err := cl.get(ctx, c, projectPath(at.ProjectKey)+"/repos/"+url.PathEscape(at.RepositoryKey), nil, nil)
	if r := restclient.RefusalOf(err); r != nil && missing[r.Name] {
		return fault.Wrap(r, fault.NotFound, "%s", r.Sentence)
	}
	return unreadable(at, err)
}

package client

import (
	"context"
	"net/http"
	"net/url"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
)

// Projects lists the projects that the connection's account sees;
// personal ones are not among them.
func (cl *Client) Projects(ctx context.Context, c *notify.Connection) ([]notify.ListedProject, error) {
	var all []notify.ListedProject
	err := list(ctx, cl, c, apiPath+"/projects", nil, func(p notify.ListedProject) bool {
		if p.Key != "" {
			all = append(all, p)
		}
		return false
	})
	return all, err
}

func projectPath(key string) string { return apiPath + "/projects/" + url.PathEscape(key) }

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

// unreadable says what to do about a repository that the platform does not
// show to the connection's account.
func unreadable(at notify.RepositoryRef, err error) error {
	r := restclient.RefusalOf(err)
	switch {
	case r == nil:
	case unpermitted(r):
		return fault.Wrap(r, fault.Unavailable, "%s Give the connection's account the permission to read %s/%s (REPO_READ) on the platform.",
			r.Sentence, at.ProjectKey, at.RepositoryKey)
	case r.Status == http.StatusNotFound:
		return fault.Wrap(r, fault.Unavailable, "%s Check that there is a repository %s/%s, and that the connection's account may read it "+
			"(REPO_READ).",
			r.Sentence, at.ProjectKey, at.RepositoryKey)
	}
	return err
}

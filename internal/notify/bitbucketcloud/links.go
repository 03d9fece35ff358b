package bitbucketcloud

import (
	"net/url"
	"strconv"
	"strings"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// site is the platform's base URL, without a slash at its end. Links are made
// of it where a body has none; an empty one makes none.
type site string

// workspace is where a repository is, as rules and hooks have it: in the place
// of the self-hosted edition's project.
func (s site) workspace(r *repository) notify.Project {
	p := notify.Project{Key: r.workspace, Name: payload.Cut(r.workspaceName), URL: r.workspaceLink}
	if p.URL == "" && s != "" && p.Key != "" {
		p.URL = payload.Short(string(s) + "/" + url.PathEscape(p.Key) + "/")
	}
	return p
}

func (s site) repository(r *repository) notify.Repository {
	return notify.Repository{Key: r.slug, Name: payload.Cut(r.name), URL: s.repositoryURL(r)}
}

func (s site) repositoryURL(r *repository) string {
	switch {
	case r.link != "":
		return r.link
	case s == "" || r.slug == "":
		return ""
	}
	return payload.Short(string(s) + "/" + url.PathEscape(r.workspace) + "/" + url.PathEscape(r.slug))
}

// in is the address of a page of the repository, path starting with a slash.
func (s site) in(r *repository, path string) string {
	base := s.repositoryURL(r)
	if base == "" {
		return ""
	}
	return payload.Short(strings.TrimRight(base, "/") + path)
}

func (s site) commit(r *repository, c *commit) string {
	if c.link != "" || c.id == "" {
		return c.link
	}
	return s.in(r, "/commits/"+url.PathEscape(c.id))
}

func (s site) pullRequest(r *repository, p *pullRequest) string {
	if p.link != "" {
		return p.link
	}
	return s.in(r, "/pull-requests/"+strconv.FormatInt(p.id, 10))
}

func (s site) issue(r *repository, i *issue) string {
	if i.link != "" {
		return i.link
	}
	return s.in(r, "/issues/"+strconv.FormatInt(i.id, 10))
}

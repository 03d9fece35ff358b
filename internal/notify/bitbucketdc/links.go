package bitbucketdc

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

func (s site) project(p *project) notify.Project {
	return notify.Project{Key: payload.Cut(p.key), Name: payload.Cut(p.name), Personal: p.personal(), URL: s.projectURL(p)}
}

func (s site) projectURL(p *project) string {
	switch {
	case p.link != "":
		return p.link
	case s == "" || p.key == "":
		return ""
	case p.personal():
		slug := p.ownerSlug
		if slug == "" {
			slug = strings.ToLower(strings.TrimPrefix(p.key, "~"))
		}
		return payload.Short(string(s) + "/users/" + url.PathEscape(slug))
	}
	return payload.Short(string(s) + "/projects/" + url.PathEscape(p.key))
}

func (s site) repository(r *repository) notify.Repository {
	out := notify.Repository{Key: payload.Cut(r.slug), Name: payload.Cut(r.name)}
	if r.link != "" {
		out.URL = r.link
	} else if base := s.repositoryBase(r); base != "" {
		out.URL = base + "/browse"
	}
	return out
}

// repositoryBase is what the addresses of a repository's pages start with.
func (s site) repositoryBase(r *repository) string {
	if r.link != "" {
		return strings.TrimSuffix(r.link, "/browse")
	}
	base := s.projectURL(&r.project)
	if base == "" || r.slug == "" {
		return ""
	}
	return payload.Short(base + "/repos/" + url.PathEscape(r.slug))
}

// in is the address of a page of the repository, path starting with a slash.
func (s site) in(r *repository, path string) string {
	base := s.repositoryBase(r)
	if base == "" {
		return ""
	}
	return payload.Short(base + path)
}

func (s site) pullRequest(p *pullRequest) string {
	if p.link != "" {
		return p.link
	}
	return s.in(&p.repository, "/pull-requests/"+strconv.FormatInt(p.id, 10))
}

func (s site) commit(r *repository, id string) string {
	if id == "" {
		return ""
	}
	return s.in(r, "/commits/"+url.PathEscape(id))
}

// history is the page of a ref's commits.
func (s site) history(r *repository, refID string) string {
	return s.in(r, "/commits?until="+url.QueryEscape(refID))
}

// atComment is the address of a comment on a page.
func atComment(page string, id int64) string {
	if page == "" || id == 0 {
		return page
	}
	return payload.Short(page + "?commentId=" + strconv.FormatInt(id, 10))
}

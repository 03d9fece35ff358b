package bitbucketdc

import (
	"strings"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// person is a user of the platform, or the author of a commit: then name is
// what Git knows, which anybody can set, and must not pass for a user's name.
type person struct {
	name, displayName, email, slug string
	account                        bool
}

func readPerson(r *payload.Reader) person {
	var p person
	for name := range r.Object {
		switch name {
		case "name":
			p.name = r.Text()
		case "displayName":
			p.displayName = r.Text()
			p.account = p.account || p.displayName != ""
		case "emailAddress":
			p.email = r.Text()
		case "slug":
			p.slug = r.Text()
			p.account = p.account || p.slug != ""
		}
	}
	return p
}

func (p person) user() notify.User {
	return notify.User{Name: cut(p.name), DisplayName: cut(p.displayName), Email: cut(p.email)}
}

func (p person) author() notify.User {
	if !p.account {
		return notify.User{DisplayName: cut(p.name), Email: cut(p.email)}
	}
	return p.user()
}

func readUser(r *payload.Reader) notify.User { return readPerson(r).user() }

// readParticipant reads who takes part in a pull request.
func readParticipant(r *payload.Reader) person {
	var p person
	for name := range r.Object {
		if name == "user" {
			p = readPerson(r)
		}
	}
	return p
}

func readReviewer(r *payload.Reader) notify.User { return readParticipant(r).user() }

type project struct {
	key, name, description, link, ownerSlug string
	personal                                bool
}

func readProject(r *payload.Reader) project {
	var p project
	for name := range r.Object {
		switch name {
		case "key":
			p.key = r.Text()
		case "name":
			p.name = r.Text()
		case "description":
			p.description = r.Text()
		case "type":
			p.personal = r.Text() == "PERSONAL"
		case "owner":
			p.ownerSlug = readPerson(r).slug
		case "links":
			p.link = readSelf(r)
		}
	}
	p.personal = p.personal || strings.HasPrefix(p.key, "~")
	return p
}

type repository struct {
	slug, name, description, public, link string
	project                               project
	origin                                payload.Reader // of a fork
}

func readRepository(r *payload.Reader) repository {
	var p repository
	for name := range r.Object {
		switch name {
		case "slug":
			p.slug = r.Text()
		case "name":
			p.name = r.Text()
		case "description":
			p.description = r.Text()
		case "public":
			p.public = yesNo(r.Bool())
		case "project":
			p.project = readProject(r)
		case "links":
			p.link = readSelf(r)
		case "origin":
			p.origin = r.Later()
		}
	}
	return p
}

// ref is a branch or tag.
type ref struct {
	id, displayID, kind, latestCommit string
	repository                        payload.Reader
}

func readRef(r *payload.Reader) ref {
	var p ref
	for name := range r.Object {
		switch name {
		case "id":
			p.id = r.Text()
		case "displayId":
			p.displayID = r.Text()
		case "type":
			p.kind = r.Text()
		case "latestCommit":
			p.latestCommit = r.Text()
		case "repository":
			p.repository = r.Later()
		}
	}
	return p
}

// name is what people call the ref.
func (p ref) name() string {
	if p.displayID != "" {
		return cut(p.displayID)
	}
	return cut(strings.TrimPrefix(strings.TrimPrefix(p.id, branchPrefix), tagPrefix))
}

func (p ref) tag() bool { return p.kind == "TAG" || strings.HasPrefix(p.id, tagPrefix) }

// other tells whether the ref is neither a branch nor a tag.
func (p ref) other() bool {
	return strings.HasPrefix(p.id, "refs/") && !strings.HasPrefix(p.id, branchPrefix) && !strings.HasPrefix(p.id, tagPrefix)
}

const (
	branchPrefix = "refs/heads/"
	tagPrefix    = "refs/tags/"
)

type commit struct {
	id, message string
	author      person
	at          time.Time
	parents     payload.Reader
}

func readCommit(r *payload.Reader) commit {
	var p commit
	for name := range r.Object {
		switch name {
		case "id":
			p.id = r.Text()
		case "message":
			p.message = r.Text()
		case "author":
			p.author = readPerson(r)
		case "authorTimestamp":
			p.at = r.Time()
		case "parents":
			p.parents = r.Later()
		}
	}
	return p
}

func (c *commit) parentIDs() []string {
	var ids []string
	parents := c.parents
	for range parents.Array {
		for name := range parents.Object {
			if name == "id" {
				ids = append(ids, parents.Text())
			}
		}
	}
	return ids
}

// readSelf reads the address of the page that shows something.
func readSelf(r *payload.Reader) string {
	var href string
	for name := range r.Object {
		if name == "self" {
			href = ""
			for range r.Array {
				for name := range r.Object {
					if name == "href" && href == "" {
						href = r.Text()
					}
				}
			}
		}
	}
	if len(href) > maxURL || !strings.HasPrefix(href, "https://") && !strings.HasPrefix(href, "http://") {
		return ""
	}
	return href
}

// readNamed reads the name of something that has nothing else for us.
func readNamed(r *payload.Reader) string {
	var s string
	for name := range r.Object {
		if name == "name" {
			s = r.Text()
		}
	}
	return s
}

// cut shortens what people or machines wrote to what an event keeps.
func cut(s string) string {
	s, _ = notify.Cut(s, notify.MaxText)
	return s
}

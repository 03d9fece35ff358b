package bitbucketdc

import (
	"strings"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// person is a user of the platform, or the author of a commit: then name is
// what Git knows, which anyone can set, and must not pass for a user's name.
type person struct {
	name, displayName, email string
	account                  bool
}

func readPerson(r *payload.Reader) person {
	var p person
	for name := range r.Object {
		switch string(name) {
		case "name":
			p.name = r.Text()
		case "displayName":
			p.displayName = r.Text()
			p.account = p.account || p.displayName != ""
		case "emailAddress":
			p.email = r.Text()
		case "slug":
			p.account = !r.Is("") || p.account
		}
	}
	return p
}

func (p person) user() notify.User {
	return notify.User{Name: payload.Cut(p.name), DisplayName: payload.Cut(p.displayName), Email: payload.Cut(p.email)}
}

func (p person) author() notify.User {
	if !p.account {
		return notify.User{DisplayName: payload.Cut(p.name), Email: payload.Cut(p.email)}
	}
	return p.user()
}

func readUser(r *payload.Reader) notify.User { return readPerson(r).user() }

// readParticipant reads who takes part in a pull request.
func readParticipant(r *payload.Reader) person {
	var p person
	for name := range r.Object {
		if string(name) == "user" {
			p = readPerson(r)
		}
	}
	return p
}

func readReviewer(r *payload.Reader) notify.User { return readParticipant(r).user() }

type project struct {
	key, name, description, link, ownerSlug string
	ofUser                                  bool
}

func (p *project) read(r *payload.Reader) {
	*p = project{}
	for name := range r.Object {
		p.member(name, r)
	}
}

// member reads one member.
func (p *project) member(name []byte, r *payload.Reader) {
	switch string(name) {
	case "key":
		p.key = r.Text()
	case "name":
		p.name = r.Text()
	case "description":
		p.description = r.Text()
	case "type":
		p.ofUser = r.Is("PERSONAL")
	case "owner":
		p.ownerSlug = readMember(r, "slug")
	case "links":
		p.link = readSelf(r)
	}
}

// personal reports whether the project is a user's own.
func (p *project) personal() bool { return p.ofUser || strings.HasPrefix(p.key, "~") }

type repository struct {
	slug, name, description, public, link string
	project                               project
	origin                                *repository // of a fork
}

func (p *repository) read(r *payload.Reader) {
	*p = repository{}
	for name := range r.Object {
		p.member(name, r)
	}
}

// member reads one member.
func (p *repository) member(name []byte, r *payload.Reader) {
	switch string(name) {
	case "slug":
		p.slug = r.Text()
	case "name":
		p.name = r.Text()
	case "description":
		p.description = r.Text()
	case "public":
		p.public = notify.YesNo(r.Bool())
	case "project":
		p.project.read(r)
	case "links":
		p.link = readSelf(r)
	case "origin":
		p.origin = new(repository)
		p.origin.read(r)
	}
}

// readRepositoryRef reads which repository it is.
func readRepositoryRef(r *payload.Reader) notify.RepositoryRef {
	var p notify.RepositoryRef
	for name := range r.Object {
		switch string(name) {
		case "slug":
			p.RepositoryKey = r.Text()
		case "project":
			p.ProjectKey = readMember(r, "key")
		}
	}
	return p
}

// ref is a branch or tag.
type ref struct {
	id, displayID string
	isTag         bool
}

func readRef(r *payload.Reader) ref {
	var p ref
	for name := range r.Object {
		p.member(name, r)
	}
	return p
}

// member reads one member.
func (p *ref) member(name []byte, r *payload.Reader) {
	switch string(name) {
	case "id":
		p.id = r.Text()
	case "displayId":
		p.displayID = r.Text()
	case "type":
		p.isTag = r.Is("TAG")
	}
}

// name is what people call the ref.
func (p ref) name() string {
	if p.displayID != "" {
		return payload.Cut(p.displayID)
	}
	return payload.Cut(strings.TrimPrefix(strings.TrimPrefix(p.id, branchPrefix), tagPrefix))
}

func (p ref) tag() bool { return p.isTag || strings.HasPrefix(p.id, tagPrefix) }

// other reports whether the ref is neither a branch nor a tag.
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
	parents     []string
}

func (p *commit) read(r *payload.Reader) {
	*p = commit{}
	for name := range r.Object {
		switch string(name) {
		case "id":
			p.id = r.Text()
		case "message":
			p.message = r.FirstLine()
		case "author":
			p.author = readPerson(r)
		case "authorTimestamp":
			p.at = r.Time()
		case "parents":
			p.parents = payload.All(r, readID)
		}
	}
}

func readCommit(r *payload.Reader) commit {
	var p commit
	p.read(r)
	return p
}

func readID(r *payload.Reader) string { return readMember(r, "id") }

// readMember reads a text of something that has nothing else for us.
func readMember(r *payload.Reader, member string) string {
	var s string
	for name := range r.Object {
		if string(name) == member {
			s = r.Text()
		}
	}
	return s
}

// readSelf reads the address of the page that shows something.
func readSelf(r *payload.Reader) string {
	var href string
	for name := range r.Object {
		if string(name) == "self" {
			href = ""
			for range r.Array {
				for name := range r.Object {
					if string(name) == "href" && href == "" {
						href = r.Text()
					}
				}
			}
		}
	}
	return payload.Page(href)
}

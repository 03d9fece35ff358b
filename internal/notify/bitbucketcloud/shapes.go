package bitbucketcloud

import (
	"cmp"
	"strings"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// user is an account. Since 2019 people have neither a user name nor an e-mail
// address in bodies; teams have a name yet.
type user struct {
	accountID, uuid, displayName, nickname, username string
}

func readUser(r *payload.Reader) user {
	var u user
	for name := range r.Object {
		switch string(name) {
		case "account_id":
			u.accountID = r.Text()
		case "uuid":
			u.uuid = r.Text()
		case "display_name":
			u.displayName = r.Text()
		case "nickname":
			u.nickname = r.Text()
		case "username":
			u.username = r.Text()
		}
	}
	return u
}

func (u user) user() notify.User {
	return notify.User{
		Name:        payload.Cut(cmp.Or(u.accountID, u.uuid, u.username)),
		DisplayName: payload.Cut(cmp.Or(u.displayName, u.nickname, u.username)),
	}
}

func readUsers(r *payload.Reader) notify.User { return readUser(r).user() }

// repository is one of a workspace. Its full name is workspace/slug, by which
// rules and hooks know it; what is no such name leaves both empty.
type repository struct {
	workspace, slug, name, link  string
	workspaceName, workspaceLink string
	project                      project
}

func (p *repository) read(r *payload.Reader) {
	*p = repository{}
	for name := range r.Object {
		switch string(name) {
		case "full_name":
			p.workspace, p.slug = keys(r.Text())
		case "name":
			p.name = r.Text()
		case "links":
			p.link = readPage(r)
		case "workspace":
			w := readProject(r)
			p.workspaceName, p.workspaceLink = w.name, w.link
		case "project":
			p.project = readProject(r)
		}
	}
}

// keys are the workspace and the slug of a full name.
func keys(fullName string) (workspace, slug string) {
	workspace, slug, ok := strings.Cut(fullName, "/")
	if !ok || workspace == "" || slug == "" || strings.Contains(slug, "/") {
		return "", ""
	}
	return part(workspace), part(slug)
}

// part is what an event keeps of a part of a text, without the rest of it.
func part(s string) string { return strings.Clone(payload.Cut(s)) }

// fullName is "" where the keys are not known.
func (p *repository) fullName() string {
	if p.slug == "" {
		return ""
	}
	return p.workspace + "/" + p.slug
}

// project groups repositories of a workspace. A workspace has the same members.
type project struct {
	key, slug, name, link, workspace string
}

func readProject(r *payload.Reader) project {
	var p project
	for name := range r.Object {
		switch string(name) {
		case "key":
			p.key = r.Text()
		case "slug":
			p.slug = r.Text()
		case "name":
			p.name = r.Text()
		case "links":
			p.link = readPage(r)
		case "workspace":
			p.workspace = readProject(r).slug
		}
	}
	return p
}

// label is what people call the project: "Atlas (ATL)".
func (p *project) label() string {
	switch {
	case p.key == "" || p.key == p.name:
		return payload.Cut(p.name)
	case p.name == "":
		return payload.Cut(p.key)
	}
	return payload.Cut(p.name + " (" + p.key + ")")
}

type commit struct {
	id, message, link string
	author            notify.User
	at                time.Time
	parents           []string
}

func readCommit(r *payload.Reader) commit {
	var c commit
	for name := range r.Object {
		switch string(name) {
		case "hash":
			c.id = payload.Hash(r.Text())
		case "message":
			c.message = r.FirstLine()
		case "author":
			c.author = readAuthor(r)
		case "date":
			c.at = r.Time()
		case "parents":
			c.parents = payload.All(r, readHash)
		case "links":
			c.link = readPage(r)
		}
	}
	return c
}

func readHash(r *payload.Reader) string { return readCommit(r).id }

// readAuthor reads who wrote a commit: an account, else what Git knows, which
// anyone can set and which is no name of a user.
func readAuthor(r *payload.Reader) notify.User {
	var raw string
	var account notify.User
	for name := range r.Object {
		switch string(name) {
		case "raw":
			raw = r.Text()
		case "user":
			account = readUsers(r)
		}
	}
	if account != (notify.User{}) {
		return account
	}
	name, email, _ := strings.Cut(raw, "<")
	email, _, _ = strings.Cut(email, ">")
	return notify.User{DisplayName: part(strings.TrimSpace(name)), Email: part(email)}
}

// readPage reads the address of the page that shows something.
func readPage(r *payload.Reader) string { return payload.Page(readLink(r, "html")) }

// readLink reads one of the links.
func readLink(r *payload.Reader, which string) string {
	var href string
	for name := range r.Object {
		if string(name) != which {
			continue
		}
		href = ""
		for name := range r.Object {
			if string(name) == "href" {
				href = r.Text()
			}
		}
	}
	return href
}

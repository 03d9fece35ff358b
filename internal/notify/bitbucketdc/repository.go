package bitbucketdc

import (
	"fmt"
	"strings"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// forked happens to the repository that was forked: its hooks send it and its
// rules ask for it. The fork is a fact, and where the event's link leads.
func forked(h *hook, e *notify.Event) error {
	fork := &h.repository
	if fork.slug == "" {
		return notify.NotUnderstood("there is no repository with a slug")
	}
	if origin := fork.origin; origin != nil && origin.slug != "" {
		h.place(e, origin)
	}
	e.URL = h.site.repository(fork).URL
	e.Facts = []notify.Fact{{Name: "Fork", Value: payload.Cut(fork.project.key + "/" + fork.slug)}}
	return nil
}

// modified is what a repository or project was or is: which of them only the key
// says, which may come later.
type modified struct {
	given      bool
	repository repository
	project    project
}

func (m *modified) read(r *payload.Reader) {
	*m = modified{given: r.Kind() == '{'}
	for name := range r.Object {
		switch string(name) {
		case "key", "type", "owner":
			m.project.member(name, r)
		default:
			m.repository.member(name, r)
		}
	}
	m.project.name, m.project.description, m.project.link = m.repository.name, m.repository.description, m.repository.link
}

// repositoryModified has in Changes what differs. Fields: key (the project's),
// slug, name, description, public.
func repositoryModified(h *hook, e *notify.Event) error {
	was, now := &h.before.repository, &h.after.repository
	if now.slug == "" {
		return notify.NotUnderstood("there is no new repository with a slug")
	}
	h.place(e, now)
	if !h.before.given {
		return nil
	}
	e.Changes = payload.Changed(e.Changes, "key", was.project.key, now.project.key)
	e.Changes = payload.Changed(e.Changes, "slug", was.slug, now.slug)
	e.Changes = payload.Changed(e.Changes, "name", was.name, now.name)
	e.Changes = payload.Changed(e.Changes, "description", was.description, now.description)
	e.Changes = payload.Changed(e.Changes, "public", was.public, now.public)
	return nil
}

// projectModified has in Changes what differs. Fields: key, name, description.
func projectModified(h *hook, e *notify.Event) error {
	was, now := &h.before.project, &h.after.project
	if now.key == "" {
		return notify.NotUnderstood("there is no new project with a key")
	}
	e.Project = h.site.project(now)
	e.URL = e.Project.URL
	if !h.before.given {
		return nil
	}
	e.Changes = payload.Changed(e.Changes, "key", was.key, now.key)
	e.Changes = payload.Changed(e.Changes, "name", was.name, now.name)
	e.Changes = payload.Changed(e.Changes, "description", was.description, now.description)
	return nil
}

func mirrorSynchronized(h *hook, e *notify.Event) error {
	if h.mirror != "" {
		e.Facts = append(e.Facts, notify.Fact{Name: "Mirror", Value: payload.Cut(h.mirror)})
	}
	if h.syncType != "" {
		e.Facts = append(e.Facts, notify.Fact{Name: "Synchronization", Value: payload.Cut(strings.ToLower(h.syncType))})
	}
	switch {
	case h.refLimitExceeded:
		e.Facts = append(e.Facts, notify.Fact{Name: "Branches and tags", Value: "more than the platform lists"})
	case h.changesGiven:
		e.Facts = append(e.Facts, notify.Fact{Name: "Branches and tags", Value: fmt.Sprint(len(h.changes))})
	}
	return nil
}

// maxLocations is how many places of secrets an event names; a card shows
// fewer.
const maxLocations = 25

type secretLocation struct {
	commit, path, rule string
	line               int64
	repository         repository
}

func readSecretLocation(r *payload.Reader) secretLocation {
	var s secretLocation
	for name := range r.Object {
		switch string(name) {
		case "commitId":
			s.commit = r.Text()
		case "path":
			s.path = r.Text()
		case "ruleName":
			s.rule = r.Text()
		case "line":
			s.line = r.Int()
		case "repository":
			s.repository.read(r)
		}
	}
	return s
}

// fact says which rule found the secret, and where.
func (s secretLocation) fact() notify.Fact {
	f := notify.Fact{Name: payload.Cut(s.rule), Value: s.path}
	if f.Name == "" {
		f.Name = "Secret"
	}
	if s.line > 0 {
		f.Value += fmt.Sprintf(":%d", s.line)
	}
	if s.commit != "" {
		f.Value += " in " + s.commit
	}
	f.Value = payload.Cut(f.Value)
	return f
}

// secretDetected returns one event for each repository in which secrets were
// found, in the order of the body.
func secretDetected(h *hook) ([]notify.Event, error) {
	if !h.secretsGiven {
		return nil, notify.NotUnderstood("there is no list of secretLocations")
	}
	type place struct{ project, slug string }
	index := map[place]int{}
	var events []notify.Event
	for _, s := range h.secrets {
		at := place{s.repository.project.key, s.repository.slug}
		i, seen := index[at]
		if !seen {
			i = len(events)
			index[at] = i
			e := h.event(notify.RepositorySecretDetected)
			h.place(&e, &s.repository)
			if page := h.site.commit(&s.repository, s.commit); page != "" {
				e.URL = page
			}
			events = append(events, e)
		}
		e := &events[i]
		if len(e.Facts) < maxLocations {
			e.Facts = append(e.Facts, s.fact())
		}
	}
	return events, nil
}

package bitbucketcloud

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

type issue struct {
	id                                 int64
	title, kind, state, priority, link string
	assignee                           notify.User
	created, updated                   time.Time
}

func (i *issue) read(r *payload.Reader) {
	*i = issue{}
	for name := range r.Object {
		switch string(name) {
		case "id":
			i.id = r.Int()
		case "title":
			i.title = r.Text()
		case "kind", "type": // bodies have "kind" beside the object's own "type", the vendor's page "type" alone
			if s := r.Text(); s != "issue" {
				i.kind = s
			}
		case "state":
			i.state = r.Text()
		case "priority":
			i.priority = r.Text()
		case "assignee":
			i.assignee = readUsers(r)
		case "links":
			i.link = readPage(r)
		case "created_on":
			i.created = r.Time()
		case "updated_on":
			i.updated = r.Time()
		}
	}
}

func issueEvent(h *hook, e *notify.Event) error {
	i := &h.issue
	if i.id <= 0 {
		return notify.NotUnderstood("there is no issue with an id")
	}
	e.At = i.created
	e.URL = h.site.issue(&h.repository, i)
	name := "#" + strconv.FormatInt(i.id, 10)
	if i.title != "" {
		name += " " + i.title
	}
	e.Facts = []notify.Fact{{Name: "Issue", Value: payload.Cut(name)}}
	for _, f := range []notify.Fact{{Name: "Kind", Value: i.kind}, {Name: "Priority", Value: i.priority}, {Name: "State", Value: i.state},
		{Name: "Assignee", Value: i.assignee.Label()}} {
		if f.Value != "" && !h.changed(f.Name) {
			e.Facts = append(e.Facts, notify.Fact{Name: f.Name, Value: payload.Cut(f.Value)})
		}
	}
	return nil
}

// changed reports whether the body says that a field changed: a card then shows
// what it was and is.
func (h *hook) changed(field string) bool {
	return slices.ContainsFunc(h.changes, func(c fieldChange) bool {
		named := strings.EqualFold(c.field, field) || c.field == "status" && field == "State" // they name it so
		return named && c.before != c.after
	})
}

// issueUpdated has in Changes what differs, and the comment where there was one.
func issueUpdated(h *hook, e *notify.Event) error {
	if err := issueEvent(h, e); err != nil {
		return err
	}
	e.At = h.issue.updated
	h.addChanges(e)
	if h.has&hasComment != 0 && h.comment.text != "" {
		h.addComment(e)
	}
	return nil
}

func issueComment(h *hook, e *notify.Event) error {
	if err := issueEvent(h, e); err != nil {
		return err
	}
	e.At = h.comment.created
	h.addComment(e)
	return nil
}

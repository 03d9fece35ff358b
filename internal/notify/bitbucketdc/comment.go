package bitbucketdc

import (
	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

type comment struct {
	id    int64
	text  string
	task  bool
	given bool
}

func readComment(r *payload.Reader) comment {
	c := comment{given: r.Kind() == '{'}
	for name := range r.Object {
		switch string(name) {
		case "id":
			c.id = r.Int()
		case "text":
			c.text = r.Short()
		case "severity":
			c.task = r.Is("BLOCKER") // what the platform calls a task since 7.2
		}
	}
	return c
}

// addComment adds the comment, shown on the page given.
func (h *hook) addComment(e *notify.Event, page string) error {
	c := h.comment
	if !c.given {
		return notify.NotUnderstood("there is no comment")
	}
	e.Comment = &notify.Comment{
		ID:     c.id,
		Text:   c.text,
		Task:   c.task,
		Parent: h.parentID,
		URL:    atComment(page, c.id),
	}
	return nil
}

func pullRequestComment(h *hook, e *notify.Event) error {
	if err := pullRequestEvent(h, e); err != nil {
		return err
	}
	page := e.URL
	if page != "" {
		page += "/overview"
	}
	return h.addComment(e, page)
}

func commitComment(h *hook, e *notify.Event) error {
	page := h.site.commit(&h.repository, h.commit)
	if err := h.addComment(e, page); err != nil {
		return err
	}
	e.Comment.Commit = payload.Cut(h.commit)
	if page != "" {
		e.URL = page
	}
	return nil
}

package bitbucketcloud

import (
	"strconv"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

type comment struct {
	id               int64
	text, link       string
	parent           int64
	user             notify.User
	path             string // of the file that it stands at
	line             int64
	deleted, kept    bool // what it says of itself; neither where it says nothing
	created, updated time.Time
}

func readComment(r *payload.Reader) comment {
	var c comment
	for name := range r.Object {
		switch string(name) {
		case "id":
			c.id = r.Int()
		case "content":
			c.text = readContent(r)
		case "links":
			c.link = readPage(r)
		case "parent":
			c.parent = readID(r)
		case "user":
			c.user = readUsers(r)
		case "inline":
			c.path, c.line = readInline(r)
		case "deleted":
			c.kept = r.Kind() == 'f'
			c.deleted = r.Bool()
		case "created_on":
			c.created = r.Time()
		case "updated_on":
			c.updated = r.Time()
		}
	}
	return c
}

// readContent reads what was written.
func readContent(r *payload.Reader) string {
	var raw string
	for name := range r.Object {
		if string(name) == "raw" {
			raw = r.Short()
		}
	}
	return raw
}

func readID(r *payload.Reader) int64 {
	var id int64
	for name := range r.Object {
		if string(name) == "id" {
			id = r.Int()
		}
	}
	return id
}

// readInline reads at which line a comment stands: of the new file, else of the
// old one.
func readInline(r *payload.Reader) (path string, line int64) {
	var from, to int64
	for name := range r.Object {
		switch string(name) {
		case "path":
			path = r.Text()
		case "from":
			from = r.Int()
		case "to":
			to = r.Int()
		}
	}
	if to == 0 {
		to = from
	}
	return path, to
}

// addComment adds the comment, of an event that has its page already.
func (h *hook) addComment(e *notify.Event) {
	c := &h.comment
	e.Comment = &notify.Comment{ID: c.id, Text: c.text, Parent: c.parent, URL: c.link}
	if e.Actor == (notify.User{}) && e.Types[0] != notify.PullRequestCommentDeleted {
		e.Actor = c.user
	}
	if c.path != "" {
		place := c.path
		if c.line > 0 {
			place += ":" + strconv.FormatInt(c.line, 10)
		}
		e.Facts = append(e.Facts, notify.Fact{Name: "File", Value: payload.Cut(place)})
	}
}

func pullRequestComment(h *hook, e *notify.Event) error {
	if err := pullRequestEvent(h, e); err != nil {
		return err
	}
	h.addComment(e)
	switch e.Types[0] {
	case notify.PullRequestCommentAdded:
		e.At = h.comment.created
	case notify.PullRequestCommentEdited, notify.PullRequestCommentDeleted:
		e.At = h.comment.updated
	}
	return nil
}

func commitComment(h *hook, e *notify.Event) error {
	page := h.site.commit(&h.repository, &commit{id: h.commit})
	h.addComment(e)
	e.At = h.comment.created
	e.Comment.Commit = h.commit
	if page != "" {
		e.URL = page
	}
	return nil
}

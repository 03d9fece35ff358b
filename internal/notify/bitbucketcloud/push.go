package bitbucketcloud

import (
	"strings"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// change is what happened to one ref in a push.
type change struct {
	before, after     ref
	commits           []commit // newest first, at most 5
	truncated, forced bool
}

// ref is a branch or tag; what is not given was not there, or is gone.
type ref struct {
	given            bool
	kind, name, link string
	target           commit
}

func readPush(r *payload.Reader) []change {
	var all []change
	for name := range r.Object {
		if string(name) == "changes" {
			all = payload.All(r, readChange)
		}
	}
	return all
}

func readChange(r *payload.Reader) change {
	var c change
	for name := range r.Object {
		switch string(name) {
		case "old":
			c.before = readRef(r)
		case "new":
			c.after = readRef(r)
		case "commits":
			c.commits = payload.All(r, readCommit)
		case "truncated":
			c.truncated = r.Bool()
		case "forced":
			c.forced = r.Bool()
		}
	}
	return c
}

// readRef reads a branch or tag. Annotated tags have a message, a date and a
// tagger besides.
func readRef(r *payload.Reader) ref {
	p := ref{given: r.Kind() == '{'}
	for name := range r.Object {
		switch string(name) {
		case "type":
			p.kind = r.Text()
		case "name":
			p.name = r.Text()
		case "target":
			p.target = readCommit(r)
		case "links":
			p.link = readPage(r)
		}
	}
	return p
}

// pushed returns an event for each change of a push, none for a push without any.
func pushed(h *hook) ([]notify.Event, error) {
	var events []notify.Event
	for i := range h.push {
		e, err := h.refChanged(&h.push[i])
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

func (h *hook) refChanged(c *change) (notify.Event, error) {
	now := &c.after
	if !now.given {
		now = &c.before
	}
	if now.name == "" {
		return notify.Event{}, notify.NotUnderstood("a change names no branch or tag")
	}
	tag := strings.Contains(now.kind, "tag") // "tag", "annotated_tag"; "branch", "named_branch"
	t := changeType(c, tag)
	e := h.event(t)
	e.Branch = payload.Cut(now.name)
	e.Ref = &notify.RefChange{Name: e.Branch, Tag: tag, From: c.before.target.id, To: c.after.target.id}
	if !c.after.given {
		return e, nil
	}
	if now.link != "" {
		e.URL = now.link
	}
	h.addCommits(&e, c)
	if t == notify.BranchUpdated && c.madeOnline() {
		e.Types = []notify.EventType{notify.FileEdited, notify.BranchUpdated}
	}
	if c.forced && c.before.given {
		e.Facts = append(e.Facts, notify.Fact{Name: "Force push", Value: "earlier commits were replaced"})
	}
	return e, nil
}

func changeType(c *change, tag bool) notify.EventType {
	switch {
	case !c.before.given && tag:
		return notify.TagCreated
	case !c.before.given:
		return notify.BranchCreated
	case !c.after.given && tag:
		return notify.TagDeleted
	case !c.after.given:
		return notify.BranchDeleted
	case tag:
		return notify.TagUpdated
	}
	return notify.BranchUpdated
}

func (h *hook) addCommits(e *notify.Event, c *change) {
	e.CommitCount, e.CommitsCut = len(c.commits), c.truncated
	for _, k := range c.commits[:min(len(c.commits), notify.MaxCommits)] {
		e.Commits = append(e.Commits, notify.Commit{
			ID: k.id, Message: k.message, Author: k.author, At: k.at, URL: h.site.commit(&h.repository, &k),
		})
	}
}

// madeOnline reports whether the change is one commit that was made in the
// platform's editor: on top of the hash before, and on nothing else.
func (c *change) madeOnline() bool {
	made := &c.after.target
	return len(c.commits) <= 1 && !c.truncated && len(made.parents) == 1 && made.parents[0] == c.before.target.id &&
		payload.EditedOnline(made.message)
}

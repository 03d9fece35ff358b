package bitbucketdc

import (
	"slices"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// maxListed is how many commits are looked at to find those of one of several
// changes. The platform lists 5 unless it is told otherwise.
const maxListed = 100

// change is what happened to one ref in a push.
type change struct {
	ref                  ref
	refID, from, to, how string
}

func readChange(r *payload.Reader) change {
	var c change
	for name := range r.Object {
		switch string(name) {
		case "ref":
			c.ref = readRef(r)
		case "refId":
			c.refID = r.Text()
		case "fromHash":
			c.from = payload.Hash(r.Text())
		case "toHash":
			c.to = payload.Hash(r.Text())
		case "type":
			c.how = r.Text()
		}
	}
	if c.ref.id == "" {
		c.ref.id = c.refID
	}
	return c
}

// refsChanged returns an event for each change of a push. Refs that are neither
// branches nor tags (refs/notes/…, refs/pull-requests/…) give no events.
func refsChanged(h *hook) ([]notify.Event, error) {
	if !h.changesGiven {
		return nil, notify.NotUnderstood("there is no list of changes")
	}
	var events []notify.Event
	for _, c := range h.changes {
		if c.ref.other() {
			continue
		}
		e, err := h.refChanged(c)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

func (h *hook) refChanged(c change) (notify.Event, error) {
	name, tag := c.ref.name(), c.ref.tag()
	if name == "" {
		return notify.Event{}, notify.NotUnderstood("a change names no ref")
	}
	t, ok := changeType(c.how, tag)
	if !ok {
		return notify.Event{}, notify.NotUnderstood("%q is no type of change", payload.Cut(c.how))
	}
	e := h.event(t)
	e.Branch = name
	e.Ref = &notify.RefChange{Name: name, Tag: tag, From: c.from, To: c.to}
	if c.how == "DELETE" {
		return e, nil
	}
	if page := h.site.history(&h.repository, c.ref.id); page != "" {
		e.URL = page
	}
	commits := h.commitsOf(c)
	h.addCommits(&e, commits)
	e.CommitsCut = cutShort(c, commits)
	if t == notify.BranchUpdated && h.madeOnline(c, commits) {
		e.Types = []notify.EventType{notify.FileEdited, notify.BranchUpdated}
	}
	return e, nil
}

func changeType(how string, tag bool) (notify.EventType, bool) {
	switch {
	case how == "ADD" && tag:
		return notify.TagCreated, true
	case how == "ADD":
		return notify.BranchCreated, true
	case how == "UPDATE" && tag:
		return notify.TagUpdated, true
	case how == "UPDATE":
		return notify.BranchUpdated, true
	case how == "DELETE" && tag:
		return notify.TagDeleted, true
	case how == "DELETE":
		return notify.BranchDeleted, true
	}
	return 0, false
}

// commitsOf are those of the push's commits that belong to the change: all if
// it is the only one, else those that lead to its new hash.
func (h *hook) commitsOf(c change) []commit {
	if len(h.changes) == 1 || len(h.commits) == 0 {
		return h.commits
	}
	wanted := []string{c.to}
	var own []commit
	for _, k := range h.commits[:min(len(h.commits), maxListed)] { // newest first, so that children come before their parents
		if !slices.Contains(wanted, k.id) || k.id == c.from {
			continue
		}
		own = append(own, k)
		wanted = append(wanted, k.parents...)
	}
	return own
}

func (h *hook) addCommits(e *notify.Event, commits []commit) {
	e.CommitCount = len(commits)
	for _, c := range commits[:min(len(commits), notify.MaxCommits)] {
		e.Commits = append(e.Commits, notify.Commit{
			ID:      payload.Cut(c.id),
			Message: c.message,
			Author:  c.author.author(),
			At:      c.at,
			URL:     h.site.commit(&h.repository, c.id),
		})
	}
}

// madeOnline reports whether the change is one commit that was made in the
// platform's editor: on top of the hash before, and on nothing else. A merge has
// another parent, and may quote the message of what it merges.
func (h *hook) madeOnline(c change, commits []commit) bool {
	var made commit
	switch {
	case len(commits) > 1:
		return false
	case h.toCommit.id != "" && h.toCommit.id == c.to:
		made = h.toCommit
	case len(commits) == 1 && commits[0].id == c.to:
		made = commits[0]
	}
	return len(made.parents) == 1 && made.parents[0] == c.from && payload.EditedOnline(made.message)
}

// platformListed is how many commits of a push the platform lists at most,
// unless its administrators set another number.
const platformListed = 5

// cutShort reports whether the change has more commits than are listed: the list
// is as long as the platform makes it, and some commit came from one that is
// neither in it nor the hash before.
func cutShort(c change, commits []commit) bool {
	if len(commits) < platformListed {
		return false
	}
	known := map[string]bool{c.from: true}
	for _, k := range commits {
		known[k.id] = true
	}
	for _, k := range commits {
		for _, parent := range k.parents {
			if !known[parent] {
				return true
			}
		}
	}
	return false
}

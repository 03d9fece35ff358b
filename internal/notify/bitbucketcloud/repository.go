package bitbucketcloud

import (
	"slices"
	"strings"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// fieldChange is a member of changes: what a field was and is. Of values that
// are objects it is what people call them.
type fieldChange struct{ field, before, after string }

func readChanges(r *payload.Reader) []fieldChange {
	var all []fieldChange
	for name := range r.Object {
		if len(all) == maxFields {
			break
		}
		c := fieldChange{field: payload.Cut(strings.ReplaceAll(string(name), "_", " "))}
		for name := range r.Object {
			switch string(name) {
			case "old":
				c.before = readValue(r)
			case "new":
				c.after = readValue(r)
			}
		}
		all = append(all, c)
	}
	return oneAssignee(all)
}

// oneAssignee leaves one change of whom an issue is assigned to, called assignee:
// bodies have it as the user, as responsible with the user's name, or as both.
func oneAssignee(all []fieldChange) []fieldChange {
	named := func(field string) int {
		return slices.IndexFunc(all, func(c fieldChange) bool { return c.field == field })
	}
	responsible := named("responsible")
	switch {
	case responsible < 0:
	case named("assignee") < 0:
		all[responsible].field = "assignee"
	default:
		all = slices.Delete(all, responsible, responsible+1)
	}
	return all
}

// maxFields is how many changed fields are read: an issue, which has the most,
// has a dozen.
const maxFields = 50

// readValue reads a value of a field as people know it. Links are none.
func readValue(r *payload.Reader) string {
	switch r.Kind() {
	case 't', 'f':
		return notify.YesNo(r.Bool())
	case '{':
		var label, raw string
		for name := range r.Object {
			switch string(name) {
			case "display_name", "name", "title":
				label = r.Text()
			case "raw":
				raw = r.Text()
			}
		}
		if label == "" {
			label = raw
		}
		return label
	}
	return r.Text()
}

// repositoryEvent is what happens to a repository as a whole.
func repositoryEvent(h *hook, e *notify.Event) error {
	if e.Repository.Key == "" {
		return notify.NotUnderstood("there is no repository with a full_name")
	}
	return nil
}

// forked happens to the repository that was forked. The fork is a fact, and
// where the event's link leads.
func forked(h *hook, e *notify.Event) error {
	if h.fork.slug == "" {
		return notify.NotUnderstood("there is no fork with a full_name")
	}
	e.URL = h.site.repositoryURL(&h.fork)
	e.Facts = append(e.Facts, notify.Fact{Name: "Fork", Value: payload.Cut(h.fork.fullName())})
	return nil
}

// repositoryUpdated has in Changes what differs: workspace and slug, by which
// rules and hooks follow, then the fields as the platform calls them.
func repositoryUpdated(h *hook, e *notify.Event) error {
	if err := h.addKeyChange(e); err != nil {
		return err
	}
	h.addChanges(e)
	return nil
}

// addChanges adds the changed fields, but for those that say nothing to people
// and those by whose names rules would follow.
func (h *hook) addChanges(e *notify.Event) {
	for _, c := range h.changes {
		switch c.field {
		case "full name", "links", workspaceField, slugField:
			continue
		case "key": // of a project, while a rule's is the workspace
			c.field = "project key"
		case "is private":
			c.field = "private"
		case "content":
			c.field = "text"
		}
		e.Changes = payload.Changed(e.Changes, c.field, c.before, c.after)
	}
}

// transferred happens to a repository that is in another workspace now. The
// name of the one before is that of its owner, where the body has it.
func transferred(h *hook, e *notify.Event) error {
	if err := repositoryEvent(h, e); err != nil {
		return err
	}
	if before := h.previousOwner.username; before != "" {
		e.Changes = payload.Changed(e.Changes, workspaceField, before, e.Project.Key)
	}
	if owner := h.previousOwner.user().Label(); owner != "" {
		e.Facts = append(e.Facts, notify.Fact{Name: "Previous owner", Value: owner})
	}
	return nil
}

// workspaceField and slugField are what notify.Event.KeyChange looks for.
const workspaceField, slugField = "workspace", "slug"

// addKeyChange says where the repository is now, and where it was, by the
// change of its full_name: the repository in the body may be from before.
func (h *hook) addKeyChange(e *notify.Event) error {
	for _, c := range h.changes {
		workspaceBefore, slugBefore := keys(c.before)
		workspace, slug := keys(c.after)
		if c.field != "full name" || slugBefore == "" || slug == "" {
			continue
		}
		if now := h.repository; now.workspace != workspace || now.slug != slug {
			now.workspace, now.slug, now.link = workspace, slug, "" // the link is that of the old name
			h.place(e, &now)
		}
		e.Changes = payload.Changed(e.Changes, workspaceField, workspaceBefore, workspace)
		e.Changes = payload.Changed(e.Changes, slugField, slugBefore, slug)
	}
	return repositoryEvent(h, e)
}

// projectUpdated happens to a project of a workspace.
func projectUpdated(h *hook, e *notify.Event) error {
	p := &h.project
	if p.key == "" {
		return notify.NotUnderstood("there is no project with a key")
	}
	workspace := p.workspace
	if workspace == "" { // its page is {site}/{workspace}/workspace/projects/{key}
		rest, ok := strings.CutPrefix(p.link, string(h.site)+"/")
		if before, _, found := strings.Cut(rest, "/workspace/projects/"); ok && found && !strings.Contains(before, "/") {
			workspace = before
		}
	}
	if workspace == "" {
		workspace = h.repository.workspace
	}
	e.Project = notify.Project{Key: part(workspace), Name: p.label(), URL: p.link}
	e.Repository, e.URL, e.Facts = notify.Repository{}, p.link, nil
	if workspace != "" {
		e.Facts = []notify.Fact{{Name: "Workspace", Value: e.Project.Key}}
	}
	h.addChanges(e)
	return nil
}

package samples

import "time"

func (t *teller) comment(by *user, text string) *comment {
	return &comment{
		ID:          t.number()*10 + 7,
		Text:        text,
		Author:      *by,
		CreatedDate: t.ago(time.Minute),
		UpdatedDate: t.ago(0),
		Comments:    []comment{},
		Severity:    "NORMAL",
		State:       "OPEN",
		Tasks:       []comment{},
	}
}

func (t *teller) commented() webhook {
	w := t.about(t.reviewer())
	w.Comment = t.comment(t.reviewer(), "What happens if the lever is *already* up?\n\nI would test it with `carry_all(9999999)`.")
	return w
}

func (t *teller) commentEdited() webhook {
	w := t.commented()
	w.PreviousComment = w.Comment.Text
	w.Comment.Version = 1
	w.Comment.Text = "What happens if the lever is already up? I would test it."
	return w
}

func (t *teller) commentDeleted() webhook {
	w := t.commented()
	w.CommentParentID = w.Comment.ID - 1
	return w
}

func (t *teller) taskAdded() webhook {
	w := t.about(t.other())
	w.Comment = t.comment(t.other(), "Write down how the lever is oiled.")
	w.Comment.Severity = "BLOCKER"
	return w
}

func (t *teller) commitCommented() webhook {
	return webhook{
		Actor:      t.other(),
		Repository: t.repository(),
		Commit:     t.hash("second"),
		Comment:    t.comment(t.other(), "This one fixes it for good, thank you."),
	}
}

func (t *teller) commitCommentEdited() webhook {
	w := t.commitCommented()
	w.PreviousComment = "This one fixes it."
	return w
}

func (t *teller) forked() webhook {
	fork := t.personal()
	fork.Slug = t.repository().Slug
	fork = repositoryOf(fork.Slug, &fork.Project)
	fork.Origin = t.repository()
	return webhook{Actor: t.author(), Repository: fork}
}

func (t *teller) repositoryRenamed() webhook {
	now := t.repository()
	return webhook{Actor: t.other(), Old: repositoryOf(now.Slug+"-old", &now.Project), New: now}
}

func (t *teller) projectRenamed() webhook {
	now := t.repository().Project
	before := now
	before.Key, before.Name, before.Links = "ATLAS", "Atlas machines", self("/projects/ATLAS")
	return webhook{Actor: t.other(), Old: before, New: now}
}

func (t *teller) mirrorSynchronized() webhook {
	name, _, _ := t.topic()
	w := t.push(nil, t.repository(), change{Ref: branch(name), FromHash: t.hash("first"), ToHash: t.hash("third"), Type: "UPDATE"})
	w.MirrorServer = &mirror{ID: "B7QK-3M2N-9XW4-TTRA", Name: "Sydney mirror"}
	w.SyncType = "INCREMENTAL"
	exceeded := false
	w.RefLimitExceeded = &exceeded
	return w
}

func (t *teller) secretDetected() webhook {
	at := func(line int, path string, in *repository) secretLocation {
		return secretLocation{CommitID: t.hash("third"), Line: line, Path: path, RuleName: "Private key", Repository: in}
	}
	return webhook{Actor: t.author(), SecretLocations: []secretLocation{
		at(3, "deploy/key.pem", t.repository()),
		at(41, "deploy/values_prod.yaml", t.repository()),
		at(7, "scratch.txt", t.personal()),
	}}
}

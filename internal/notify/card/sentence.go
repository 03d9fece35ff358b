package card

import (
	"strings"

	"outrigger/internal/notify"
)

// sentence is how the title of a type's cards goes: the user, the verb, the
// thing, and where.
type sentence struct {
	verb  string
	thing thing
	kind  Kind
}

// thing is what the verb of a sentence is about.
type thing uint8

const (
	place       thing = iota // the repository or project itself
	inPlace                  // nothing that has a name
	branch                   // the branch or tag
	pullRequest              // number and title
	commit                   // the commented one
	issue                    // what the fact Issue says
	build                    // "Build x": the sentence is about it, not about a user
	pipeline                 // likewise
)

func sentenceOf(t notify.EventType) sentence {
	switch t {
	case notify.BranchCreated:
		return sentence{"created branch", branch, Info}
	case notify.BranchUpdated:
		return sentence{"pushed to", branch, Info}
	case notify.BranchDeleted:
		return sentence{"deleted branch", branch, Neutral}
	case notify.TagCreated:
		return sentence{"created tag", branch, Info}
	case notify.TagUpdated:
		return sentence{"moved tag", branch, Warning}
	case notify.TagDeleted:
		return sentence{"deleted tag", branch, Neutral}
	case notify.FileEdited:
		return sentence{"edited a file on", branch, Info}
	case notify.PullRequestOpened:
		return sentence{"opened", pullRequest, Info}
	case notify.PullRequestRescoped:
		return sentence{"changed the commits of", pullRequest, Info}
	case notify.PullRequestFieldEdited:
		return sentence{"edited", pullRequest, Neutral}
	case notify.PullRequestTargetChanged:
		return sentence{"changed the target of", pullRequest, Neutral}
	case notify.PullRequestReviewersUpdated:
		return sentence{"changed the reviewers of", pullRequest, Neutral}
	case notify.PullRequestApproved:
		return sentence{"approved", pullRequest, Good}
	case notify.PullRequestUnapproved:
		return sentence{"no longer approves", pullRequest, Warning}
	case notify.PullRequestChangesRequested:
		return sentence{"requested changes to", pullRequest, Warning}
	case notify.PullRequestChangesRequestRemoved:
		return sentence{"no longer requests changes to", pullRequest, Info}
	case notify.PullRequestMerged:
		return sentence{"merged", pullRequest, Good}
	case notify.PullRequestDeclined:
		return sentence{"declined", pullRequest, Bad}
	case notify.PullRequestDeleted:
		return sentence{"deleted", pullRequest, Bad}
	case notify.PullRequestCommentAdded:
		return sentence{"commented on", pullRequest, Info}
	case notify.PullRequestCommentEdited:
		return sentence{"edited a comment on", pullRequest, Neutral}
	case notify.PullRequestCommentDeleted:
		return sentence{"deleted a comment on", pullRequest, Neutral}
	case notify.PullRequestCommentResolved:
		return sentence{"resolved a comment on", pullRequest, Good}
	case notify.PullRequestCommentReopened:
		return sentence{"reopened a comment on", pullRequest, Warning}
	}
	return otherSentence(t)
}

func otherSentence(t notify.EventType) sentence {
	switch t {
	case notify.CommitCommentAdded:
		return sentence{"commented on", commit, Info}
	case notify.CommitCommentEdited:
		return sentence{"edited a comment on", commit, Neutral}
	case notify.CommitCommentDeleted:
		return sentence{"deleted a comment on", commit, Neutral}
	case notify.BuildStatusSet:
		return sentence{"", build, Info} // the state says more
	case notify.PipelineStarted:
		return sentence{"started", pipeline, Info}
	case notify.PipelineSucceeded:
		return sentence{"succeeded", pipeline, Good}
	case notify.PipelineFailed:
		return sentence{"failed", pipeline, Bad}
	case notify.PipelineStopped:
		return sentence{"was stopped", pipeline, Warning}
	case notify.RepositoryCreated:
		return sentence{"created repository", place, Info}
	case notify.RepositoryForked:
		return sentence{"forked", place, Info}
	case notify.RepositoryFieldEdited:
		return sentence{"changed repository", place, Neutral}
	case notify.RepositoryTransferred:
		return sentence{"transferred repository", place, Warning}
	case notify.RepositoryImported:
		return sentence{"imported repository", place, Info}
	case notify.RepositoryDeleted:
		return sentence{"deleted repository", place, Bad}
	case notify.RepositoryMirrorSynchronized:
		return sentence{"synchronized a mirror of", place, Neutral}
	case notify.RepositorySecretDetected:
		return sentence{"pushed what may be a secret", inPlace, Bad}
	case notify.ProjectFieldEdited:
		return sentence{"changed project", place, Neutral}
	case notify.IssueCreated:
		return sentence{"created", issue, Info}
	case notify.IssueUpdated:
		return sentence{"updated", issue, Neutral}
	case notify.IssueCommented:
		return sentence{"commented on", issue, Info}
	}
	return sentence{"did something", inPlace, Neutral}
}

// title is the sentence of an event.
func title(e *notify.Event, s sentence) string {
	b := make([]byte, 0, 192)
	switch s.thing {
	case build, pipeline:
		b = appendBuild(b, e, s)
	default:
		b = append(b, who(e)...)
		b = append(b, ' ')
		if e.Refs != nil {
			b = append(b, manyRefs(e)...)
			break
		}
		b = append(b, verb(e, s)...)
		b = appendThing(b, e, s.thing)
	}
	if s.thing != place {
		if place := where(e); place != "" {
			b = append(b, " in "...)
			b = append(b, place...)
		}
	}
	return strings.TrimRight(string(b), " ")
}

// who caused the event.
func who(e *notify.Event) string {
	if name := line(e.Actor.Label(), maxName); name != "" {
		return name
	}
	if e.Types[0] == notify.RepositoryMirrorSynchronized {
		return "The platform"
	}
	return "Somebody"
}

// verb is the sentence's, or a better one where the event tells more.
func verb(e *notify.Event, s sentence) string {
	switch c := e.Comment; e.Types[0] {
	case notify.PullRequestCommentAdded, notify.CommitCommentAdded:
		switch {
		case c != nil && c.Task:
			return "added a task to"
		case c != nil && c.Parent != 0:
			return "answered a comment on"
		}
	case notify.PullRequestFieldEdited:
		if e.TypeSet().Has(notify.PullRequestRescoped) { // nothing says which of them it was
			return "updated"
		}
	}
	return s.verb
}

// where is the repository, by project and name, or the project, or the
// connection when nothing else is known.
func where(e *notify.Event) string {
	name := e.Repository.Name
	if name == "" {
		name = e.Repository.Key
	}
	switch {
	case name == "" && e.Project.Name != "":
		name = e.Project.Name
	case name == "" && e.Project.Key != "":
		name = e.Project.Key
	case name == "":
		name = e.Connection
	case e.Project.Key != "":
		name = e.Project.Key + "/" + name
	}
	return line(name, maxName)
}

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

// sentences has one for every type.
var sentences = map[notify.EventType]sentence{
	notify.BranchCreated:                    {"created branch", branch, Info},
	notify.BranchUpdated:                    {"pushed to", branch, Info},
	notify.BranchDeleted:                    {"deleted branch", branch, Neutral},
	notify.TagCreated:                       {"created tag", branch, Info},
	notify.TagUpdated:                       {"moved tag", branch, Warning},
	notify.TagDeleted:                       {"deleted tag", branch, Neutral},
	notify.FileEdited:                       {"edited a file on", branch, Info},
	notify.PullRequestOpened:                {"opened", pullRequest, Info},
	notify.PullRequestRescoped:              {"changed the commits of", pullRequest, Info},
	notify.PullRequestFieldEdited:           {"edited", pullRequest, Neutral},
	notify.PullRequestTargetChanged:         {"changed the target of", pullRequest, Neutral},
	notify.PullRequestReviewersUpdated:      {"changed the reviewers of", pullRequest, Neutral},
	notify.PullRequestApproved:              {"approved", pullRequest, Good},
	notify.PullRequestUnapproved:            {"no longer approves", pullRequest, Warning},
	notify.PullRequestChangesRequested:      {"requested changes to", pullRequest, Warning},
	notify.PullRequestChangesRequestRemoved: {"no longer requests changes to", pullRequest, Info},
	notify.PullRequestMerged:                {"merged", pullRequest, Good},
	notify.PullRequestDeclined:              {"declined", pullRequest, Bad},
	notify.PullRequestDeleted:               {"deleted", pullRequest, Bad},
	notify.PullRequestCommentAdded:          {"commented on", pullRequest, Info},
	notify.PullRequestCommentEdited:         {"edited a comment on", pullRequest, Neutral},
	notify.PullRequestCommentDeleted:        {"deleted a comment on", pullRequest, Neutral},
	notify.PullRequestCommentResolved:       {"resolved a comment on", pullRequest, Good},
	notify.PullRequestCommentReopened:       {"reopened a comment on", pullRequest, Warning},
	notify.CommitCommentAdded:               {"commented on", commit, Info},
	notify.CommitCommentEdited:              {"edited a comment on", commit, Neutral},
	notify.CommitCommentDeleted:             {"deleted a comment on", commit, Neutral},
	notify.BuildStatusSet:                   {"", build, Info}, // the state says more
	notify.PipelineStarted:                  {"started", pipeline, Info},
	notify.PipelineSucceeded:                {"succeeded", pipeline, Good},
	notify.PipelineFailed:                   {"failed", pipeline, Bad},
	notify.PipelineStopped:                  {"was stopped", pipeline, Warning},
	notify.RepositoryCreated:                {"created repository", place, Info},
	notify.RepositoryForked:                 {"forked", place, Info},
	notify.RepositoryFieldEdited:            {"changed repository", place, Neutral},
	notify.RepositoryTransferred:            {"transferred repository", place, Warning},
	notify.RepositoryImported:               {"imported repository", place, Info},
	notify.RepositoryDeleted:                {"deleted repository", place, Bad},
	notify.RepositoryMirrorSynchronized:     {"synchronized a mirror of", place, Neutral},
	notify.RepositorySecretDetected:         {"pushed what may be a secret", inPlace, Bad},
	notify.ProjectFieldEdited:               {"changed project", place, Neutral},
	notify.IssueCreated:                     {"created", issue, Info},
	notify.IssueUpdated:                     {"updated", issue, Neutral},
	notify.IssueCommented:                   {"commented on", issue, Info},
}

func sentenceOf(t notify.EventType) sentence {
	if s, found := sentences[t]; found {
		return s
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

// Package sample has an event of every type, as real ones look: what the console
// and the API preview, what a test message shows, and what golden files hold.
package sample

import (
	"time"

	"outrigger/internal/notify"
)

const repositoryURL = "https://git.example.com/projects/ATL/repos/engine"

var (
	at    = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ada   = notify.User{Name: "ada", DisplayName: "Ada Lovelace", Email: "ada@example.com"}
	grace = notify.User{Name: "grace", DisplayName: "Grace Hopper", Email: "grace@example.com"}
	alan  = notify.User{Name: "alan_t", DisplayName: "Alan Turing", Email: "alan@example.com"}
)

// Event is an event whose first type is t, with all that a decoder can know of
// it and with characters that chat platforms take for markup.
func Event(t notify.EventType) notify.Event {
	e := notify.Event{
		Types:      []notify.EventType{t},
		Connection: "git",
		At:         at,
		Actor:      ada,
		Project:    notify.Project{Key: "ATL", Name: "Atlas", URL: "https://git.example.com/projects/ATL"},
		Repository: notify.Repository{Key: "engine", Name: "engine", URL: repositoryURL + "/browse"},
		URL:        repositoryURL + "/browse",
	}
	switch t.Category() {
	case notify.BranchCreated.Category():
		ref(&e)
	case notify.PullRequestOpened.Category():
		pullRequest(&e)
	case notify.CommitCommentAdded.Category():
		commitComment(&e)
	case notify.BuildStatusSet.Category():
		build(&e)
	case notify.RepositoryForked.Category():
		repository(&e)
	default:
		issue(&e)
	}
	return e
}

func ref(e *notify.Event) {
	e.Branch = "feature/carry_all_wheels"
	e.Ref = &notify.RefChange{Name: e.Branch, From: "4f1d", To: "9e8c"}
	e.URL = repositoryURL + "/commits?until=refs%2Fheads%2Ffeature%2Fcarry_all_wheels"
	switch t := e.Types[0]; t {
	case notify.BranchDeleted:
		e.Ref.To = ""
	case notify.TagCreated, notify.TagUpdated, notify.TagDeleted:
		e.Branch = "v2.1.0"
		e.Ref.Name, e.Ref.Tag = e.Branch, true
		e.URL = repositoryURL + "/commits?until=refs%2Ftags%2Fv2.1.0"
		if t == notify.TagDeleted {
			e.Ref.To = ""
		}
	case notify.BranchUpdated:
		addCommits(e, "Carry over <all> wheels & levers", "Name the wheels in the log", "Test __init__ with all nines", "Fix the build",
			"Oil the bearings", "Prepare 2.1")
		e.CommitCount = 17
	case notify.FileEdited:
		e.Types = append(e.Types, notify.BranchUpdated)
		addCommits(e, "README.md edited online with Bitbucket")
	}
}

func addCommits(e *notify.Event, messages ...string) {
	for i, m := range messages {
		id := string("0123456789"[i]) + "f1d2e3c4b5a69788796a5b4c3d2e1f001122334"
		e.Commits = append(e.Commits, notify.Commit{ID: id, Message: m, Author: grace, At: at, URL: repositoryURL + "/commits/" + id})
	}
	e.CommitCount = len(messages)
}

// Deleted is the address of what an event of a type that deletes something
// deleted, as Event has it; "" for other types.
func Deleted(t notify.EventType) string {
	switch t {
	case notify.BranchDeleted:
		return repositoryURL + "/commits?until=refs%2Fheads%2Ffeature%2Fcarry_all_wheels"
	case notify.TagDeleted:
		return repositoryURL + "/commits?until=refs%2Ftags%2Fv2.1.0"
	case notify.PullRequestDeleted:
		return repositoryURL + "/pull-requests/12"
	case notify.PullRequestCommentDeleted, notify.CommitCommentDeleted:
		return "commentId="
	case notify.RepositoryDeleted:
		return repositoryURL
	}
	return ""
}

func pullRequest(e *notify.Event) {
	e.Branch, e.SourceBranch = "main", "feature/carry_all_wheels"
	e.Reviewers = []notify.User{grace, alan}
	e.URL = repositoryURL + "/pull-requests/12"
	e.PullRequest = &notify.PullRequest{
		ID: 12, Title: "Carry all seven wheels at once (*Wheel, not Wheel)", State: "OPEN", Author: ada,
		Description: "The carry went wheel by wheel.\n\n- it took seven turns\n    - one for each wheel & a spare\n- now it takes " +
			"<one>\n\nMeasured on the test bench with all nines, which is the worst case; see the figures in docs/carry_all.md. The old way " +
			"stays behind the setting carry.wheel_by_wheel for one release.",
		Source: e.SourceBranch, Target: e.Branch, URL: e.URL,
	}
	p := e.PullRequest
	comment := &notify.Comment{ID: 77, Text: "What if the lever is _already_ up?\n\n1. test it\n2. `carry_all(9999999)`",
		URL: e.URL + "/overview?commentId=77"}
	switch t := e.Types[0]; t {
	case notify.PullRequestRescoped:
		e.Changes = []notify.Change{{Field: "commit", Old: "4f1d2e3c4b5a69788796a5b4c3d2e1f001122334",
			New: "9e8c7d6b5a49382716059483726150f4e3d2c1b0"}}
	case notify.PullRequestFieldEdited:
		e.Changes = []notify.Change{{Field: "title", Old: "Carry wheels", New: p.Title}, {Field: "description", New: p.Description},
			{Field: "draft", Old: "yes", New: "no"}}
	case notify.PullRequestTargetChanged:
		e.Changes = []notify.Change{{Field: "target", Old: "release/2.0", New: "main"}}
	case notify.PullRequestReviewersUpdated:
		p.Added, p.Removed = []notify.User{alan}, []notify.User{{Name: "katherine"}}
	case notify.PullRequestApproved, notify.PullRequestUnapproved, notify.PullRequestChangesRequested, notify.PullRequestChangesRequestRemoved:
		e.Actor = grace
	case notify.PullRequestMerged:
		e.Actor, p.State, p.MergeCommit = grace, "MERGED", "9e8c7d6b5a49382716059483726150f4e3d2c1b0"
	case notify.PullRequestDeclined:
		e.Actor, p.State = grace, "DECLINED"
	case notify.PullRequestCommentAdded, notify.PullRequestCommentEdited, notify.PullRequestCommentDeleted,
		notify.PullRequestCommentResolved, notify.PullRequestCommentReopened:
		e.Actor, e.Comment = grace, comment
	}
}

func commitComment(e *notify.Event) {
	const commit = "9e8c7d6b5a49382716059483726150f4e3d2c1b0"
	e.URL = repositoryURL + "/commits/" + commit
	e.Comment = &notify.Comment{ID: 78, Text: "This mends the carry for good: 9,999,999 + 1 is 10,000,000 again. Can it go into " +
		"`release/2.0` too?", Commit: commit, URL: e.URL + "?commentId=78"}
}

func build(e *notify.Event) {
	e.Actor = notify.User{}
	e.Branch = "main"
	e.Build = &notify.Build{Commit: "9e8c7d6b5a49382716059483726150f4e3d2c1b0", Key: "ATL-ENGINE", Name: "Engine » main #41",
		State: "SUCCESSFUL", Description: "212 tests passed", URL: "https://ci.example.com/job/engine/41/"}
	if e.Types[0] == notify.BuildStatusSet {
		return
	}
	e.Types = append(e.Types, notify.BuildStatusSet)
	*e.Build = notify.Build{Commit: e.Build.Commit, Key: "3343841", Name: "Pipeline #41 for main", State: "SUCCESSFUL",
		URL: "https://cloud.example.com/atlas/engine/addon/pipelines/home#!/results/41"}
	switch e.Types[0] {
	case notify.PipelineStarted:
		e.Build.State = "INPROGRESS"
	case notify.PipelineFailed:
		e.Build.State = "FAILED"
	case notify.PipelineStopped:
		e.Build.State = "STOPPED"
	}
}

func repository(e *notify.Event) {
	switch e.Types[0] {
	case notify.RepositoryForked:
		e.Facts = []notify.Fact{{Name: "Fork", Value: "~ADA/engine"}}
		e.URL = "https://git.example.com/users/ada/repos/engine/browse"
	case notify.RepositoryFieldEdited:
		e.Changes = []notify.Change{{Field: "slug", Old: "motor", New: "engine"}, {Field: "name", Old: "motor", New: "engine"}}
	case notify.RepositoryTransferred:
		e.Facts = []notify.Fact{{Name: "Previous owner", Value: "babbage"}}
	case notify.RepositoryMirrorSynchronized:
		e.Actor = notify.User{}
		e.Facts = []notify.Fact{{Name: "Mirror", Value: "Sydney mirror"}, {Name: "Synchronization", Value: "incremental"},
			{Name: "Branches and tags", Value: "1"}}
	case notify.RepositorySecretDetected:
		e.Facts = []notify.Fact{{Name: "Private key", Value: "deploy/key.pem:3 in 9e8c7d6b5a49382716059483726150f4e3d2c1b0"}}
	case notify.ProjectFieldEdited:
		e.Repository, e.URL = notify.Repository{}, e.Project.URL
		e.Changes = []notify.Change{{Field: "key", Old: "ATLAS", New: "ATL"}}
	}
}

func issue(e *notify.Event) {
	e.URL = "https://cloud.example.com/atlas/engine/issues/5"
	e.Facts = []notify.Fact{{Name: "Issue", Value: "#5 The bell rings twice"}, {Name: "Priority", Value: "major"}}
	switch e.Types[0] {
	case notify.IssueUpdated:
		e.Changes = []notify.Change{{Field: "status", Old: "new", New: "open"}}
	case notify.IssueCommented:
		e.Comment = &notify.Comment{ID: 79, Text: "Only when the carriage stands at the last column, so the stop is bent or missing.",
			URL: e.URL + "#comment-79"}
	}
}

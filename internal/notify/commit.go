package notify

import (
	"slices"
	"time"
)

// NamedCommit is a commit that an event named, in a repository of which rules
// want to hear of builds.
type NamedCommit struct {
	Connection string
	At         RepositoryRef
	Hash       string
	Branch     string // on which it was; "" where the event did not say
	NamedAt    time.Time
	Asked      int       // how often the platform was asked for its builds
	DueAt      time.Time // when it is asked next; zero: it is not
}

// firstAsk is when the platform is asked first: later than a build server notices a push.
const firstAsk = 30 * time.Second

// maxNamed is how many commits of one webhook are noted. A push by a person names a few;
// that of a mirror or a clean-up names thousands, whose builds nobody waits for.
const maxNamed = 100

// nameCommits notes the commits that the webhook names, where a rule wants to
// hear of their builds. The platform is asked for the builds of the last commit
// of each push and merge, which is what build servers build.
func (r *Receipt) nameCommits(rules *RuleSet) {
	r.Commits = r.Commits[:0]
	if r.withheld || r.Build != nil || !rules.wantsBuilds(r.Connection, nil) {
		return
	}
	due := time.Time{}
	switch c := rules.Platforms.Connections.Find(r.Connection); {
	case c != nil && c.Edition() == Cloud: // which tells of builds by itself
		return
	case c != nil && c.Answers():
		due = r.ReceivedAt.Add(firstAsk)
	}
	for i := range r.Events {
		e := &r.Events[i]
		if !rules.wantsBuilds(r.Connection, e) {
			continue
		}
		if e.Ref != nil {
			r.name(e, e.Ref.To, due)
		}
		if e.PullRequest != nil {
			r.name(e, e.PullRequest.MergeCommit, due)
		}
		if e.Comment != nil {
			r.name(e, e.Comment.Commit, time.Time{})
		}
		for _, c := range e.Commits {
			r.name(e, c.ID, time.Time{})
		}
	}
}

// name notes a commit once.
func (r *Receipt) name(e *Event, hash string, due time.Time) {
	if len(r.Commits) == maxNamed || !commitHash.MatchString(hash) {
		return
	}
	at := RepositoryRef{ProjectKey: e.Project.Key, RepositoryKey: e.Repository.Key}
	if slices.ContainsFunc(r.Commits, func(c NamedCommit) bool { return c.Hash == hash && c.At == at }) {
		return
	}
	r.Commits = append(r.Commits, NamedCommit{
		Connection: r.Connection, At: at, Hash: hash, Branch: e.Branch, NamedAt: r.ReceivedAt, DueAt: due,
	})
}

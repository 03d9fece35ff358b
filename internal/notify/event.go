// Package notify is chat notifications: events of a code-hosting platform,
// the rules that say which of them go to which channel, and the deliveries
// that carry them there.
//
// The words of the wing are Event, Rule, Channel and Delivery. Packages below
// it decode webhook bodies (bitbucketdc), compile branch masks (branchmask),
// make cards (card, teams, slack) and deliver (outbox).
package notify

import "time"

// Event is one thing that happened on a code-hosting platform. It is kept as
// JSON, so a member once named keeps its name.
type Event struct {
	Types      []EventType `json:"types"`          // at least one, but for a report's; the first names the card
	Key        string      `json:"key"`            // the platform's own event key
	Connection string      `json:"connection"`     // set by the receiver, not by decoders
	At         time.Time   `json:"at,omitzero"`    // when it happened; zero where the body does not say
	Actor      User        `json:"actor,omitzero"` // who caused it
	Project    Project     `json:"project,omitzero"`
	Repository Repository  `json:"repository,omitzero"` // zero for an event of a whole project

	// Branch is what branch filters look at: the display name of the pushed
	// branch or tag, a pull request's target, a build's ref. Empty: none.
	Branch string `json:"branch,omitempty"`
	// SourceBranch is a pull request's source branch.
	SourceBranch string `json:"sourceBranch,omitempty"`
	// Reviewers are the names of those a pull request asks.
	Reviewers []User `json:"reviewers,omitempty"`

	Ref         *RefChange   `json:"ref,omitempty"`
	Refs        *Refs        `json:"refs,omitempty"` // in place of Ref, where a webhook changed many
	PullRequest *PullRequest `json:"pullRequest,omitempty"`
	Comment     *Comment     `json:"comment,omitempty"`
	Commits     []Commit     `json:"commits,omitempty"`     // newest first, at most MaxCommits
	CommitCount int          `json:"commitCount,omitempty"` // all of them where the platform says, else len(Commits)
	CommitsCut  bool         `json:"commitsCut,omitempty"`  // there are more, and the platform does not say how many
	Build       *Build       `json:"build,omitempty"`
	Changes     []Change     `json:"changes,omitempty"` // fields with their old and new values
	Facts       []Fact       `json:"facts,omitempty"`   // what no other member holds (mirror name, rule of a detected secret)
	URL         string       `json:"url,omitempty"`     // the page that shows it, absolute; empty where not known

	Update PullRequestUpdate `json:"-"` // what it adds to what was seen of its pull request

	// Report is what an activity report says, and its event has no types.
	Report *Activity `json:"report,omitempty"`
}

// MaxCommits is how many commits of a push an Event keeps: a card names 5,
// the rest is for filters of later.
const MaxCommits = 25

// User is an account on the platform.
type User struct {
	Name        string `json:"name,omitempty"`        // the name that rules compare (self-hosted: name; cloud: account id)
	DisplayName string `json:"displayName,omitempty"` // what cards show
	Email       string `json:"email,omitempty"`
}

// Label is what people read: the display name, else the name.
func (u User) Label() string {
	if u.DisplayName != "" {
		return u.DisplayName
	}
	return u.Name
}

// Project is a project (self-hosted) or workspace project (cloud).
type Project struct {
	Key      string `json:"key,omitempty"`
	Name     string `json:"name,omitempty"`
	Personal bool   `json:"personal,omitempty"`
	URL      string `json:"url,omitempty"`
}

// Repository is a repository; its Key is the slug that URLs use.
type Repository struct {
	Key  string `json:"key,omitempty"`
	Name string `json:"name,omitempty"`
	URL  string `json:"url,omitempty"`
}

// RefChange is a branch or tag that was created, moved or deleted.
type RefChange struct {
	Name string `json:"name"`           // display name
	Tag  bool   `json:"tag,omitempty"`  // else a branch
	From string `json:"from,omitempty"` // commit before; empty when created
	To   string `json:"to,omitempty"`   // commit after; empty when deleted
}

// PullRequest is a pull request at the time of the event.
type PullRequest struct {
	ID          int64  `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	State       string `json:"state,omitempty"`
	Draft       bool   `json:"draft,omitempty"`
	Author      User   `json:"author,omitzero"`
	Source      string `json:"source,omitempty"` // branch display name
	Target      string `json:"target,omitempty"`
	URL         string `json:"url,omitempty"`
	MergeCommit string `json:"mergeCommit,omitempty"`
	// SourceCommit is the last one on the source branch, where Event.Update is set.
	SourceCommit string `json:"sourceCommit,omitempty"`
	Added        []User `json:"added,omitempty"`   // reviewers added by this event
	Removed      []User `json:"removed,omitempty"` // reviewers removed by this event
}

// Comment is a comment on a pull request or a commit.
type Comment struct {
	ID     int64  `json:"id"`
	Text   string `json:"text,omitempty"` // cut to MaxText
	Task   bool   `json:"task,omitempty"`
	Parent int64  `json:"parent,omitempty"` // the comment it answers; 0 is none
	Commit string `json:"commit,omitempty"` // for a commit's comment
	URL    string `json:"url,omitempty"`
}

// MaxText is how many characters of a comment or description an Event keeps:
// twice what a card shows.
const MaxText = 1000

// Commit is one commit of a push.
type Commit struct {
	ID      string    `json:"id"`
	Message string    `json:"message,omitempty"` // first line
	Author  User      `json:"author,omitzero"`
	At      time.Time `json:"at,omitzero"`
	URL     string    `json:"url,omitempty"`
}

// Build is the state of a build of a commit.
type Build struct {
	Commit      string `json:"commit"`
	Key         string `json:"key"`
	Name        string `json:"name,omitempty"`
	State       string `json:"state"` // SUCCESSFUL, FAILED, INPROGRESS, STOPPED …
	Description string `json:"description,omitempty"`
	URL         string `json:"url,omitempty"`
}

// Change is a field that went from Old to New.
type Change struct {
	Field string `json:"field"`
	Old   string `json:"old,omitempty"`
	New   string `json:"new,omitempty"`
}

// Fact is a name and a value that a card shows as they are.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Readable reports whether an event that was stored has what its message is made
// of.
func (e *Event) Readable() bool { return len(e.Types) > 0 || e.Report != nil }

// TypeSet is the set of the event's types.
func (e *Event) TypeSet() TypeSet { return NewTypeSet(e.Types...) }

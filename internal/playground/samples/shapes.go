package samples

import (
	"strconv"
	"time"
)

// webhook has the members of every body; each sample fills its own.
type webhook struct {
	EventKey            string           `json:"eventKey"`
	Date                string           `json:"date"`
	Actor               *user            `json:"actor,omitempty"`
	Repository          *repository      `json:"repository,omitempty"`
	PullRequest         *pullRequest     `json:"pullRequest,omitempty"`
	Participant         *participant     `json:"participant,omitempty"`
	PreviousStatus      string           `json:"previousStatus,omitempty"`
	AddedReviewers      []user           `json:"addedReviewers,omitempty"`
	RemovedReviewers    []user           `json:"removedReviewers,omitempty"`
	PreviousFromHash    string           `json:"previousFromHash,omitempty"`
	PreviousTitle       string           `json:"previousTitle,omitempty"`
	PreviousDescription string           `json:"previousDescription,omitempty"`
	PreviousTarget      *ref             `json:"previousTarget,omitempty"`
	PreviousDraft       *bool            `json:"previousDraft,omitempty"`
	Comment             *comment         `json:"comment,omitempty"`
	CommentParentID     int64            `json:"commentParentId,omitempty"`
	PreviousComment     string           `json:"previousComment,omitempty"`
	Commit              string           `json:"commit,omitempty"`
	Changes             []change         `json:"changes,omitempty"`
	Commits             []commit         `json:"commits,omitempty"`
	ToCommit            *commit          `json:"toCommit,omitempty"`
	Old                 any              `json:"old,omitempty"`
	New                 any              `json:"new,omitempty"`
	MirrorServer        *mirror          `json:"mirrorServer,omitempty"`
	SyncType            string           `json:"syncType,omitempty"`
	RefLimitExceeded    *bool            `json:"refLimitExceeded,omitempty"`
	SecretLocations     []secretLocation `json:"secretLocations,omitempty"`
}

type link struct {
	Href string `json:"href"`
	Name string `json:"name,omitempty"`
}

type links struct {
	Clone []link `json:"clone,omitempty"`
	Self  []link `json:"self"`
}

type user struct {
	Name         string `json:"name"`
	EmailAddress string `json:"emailAddress"`
	Active       bool   `json:"active"`
	DisplayName  string `json:"displayName"`
	ID           int64  `json:"id"`
	Slug         string `json:"slug"`
	Type         string `json:"type"`
	Links        links  `json:"links"`
}

type project struct {
	Key         string `json:"key"`
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Public      bool   `json:"public"`
	Type        string `json:"type"`
	Owner       *user  `json:"owner,omitempty"`
	Links       links  `json:"links"`
}

type repository struct {
	Slug          string      `json:"slug"`
	ID            int64       `json:"id"`
	Name          string      `json:"name"`
	HierarchyID   string      `json:"hierarchyId"`
	ScmID         string      `json:"scmId"`
	State         string      `json:"state"`
	StatusMessage string      `json:"statusMessage"`
	Forkable      bool        `json:"forkable"`
	Origin        *repository `json:"origin,omitempty"`
	Project       project     `json:"project"`
	Public        bool        `json:"public"`
	Archived      bool        `json:"archived"`
	Links         links       `json:"links"`
}

type ref struct {
	ID           string      `json:"id"`
	DisplayID    string      `json:"displayId"`
	LatestCommit string      `json:"latestCommit,omitempty"`
	Type         string      `json:"type"`
	Repository   *repository `json:"repository,omitempty"`
}

type participant struct {
	User               user   `json:"user"`
	LastReviewedCommit string `json:"lastReviewedCommit,omitempty"`
	Role               string `json:"role"`
	Approved           bool   `json:"approved"`
	Status             string `json:"status"`
}

type pullRequest struct {
	ID           int64         `json:"id"`
	Version      int           `json:"version"`
	Title        string        `json:"title"`
	Description  string        `json:"description,omitempty"`
	State        string        `json:"state"`
	Open         bool          `json:"open"`
	Closed       bool          `json:"closed"`
	Draft        bool          `json:"draft"`
	CreatedDate  stamp         `json:"createdDate"`
	UpdatedDate  stamp         `json:"updatedDate"`
	ClosedDate   *stamp        `json:"closedDate,omitempty"`
	FromRef      ref           `json:"fromRef"`
	ToRef        ref           `json:"toRef"`
	Locked       bool          `json:"locked"`
	Author       participant   `json:"author"`
	Reviewers    []participant `json:"reviewers"`
	Participants []participant `json:"participants"`
	Properties   *properties   `json:"properties,omitempty"`
	Links        links         `json:"links"`
}

type properties struct {
	MergeCommit *commitRef `json:"mergeCommit,omitempty"`
}

type comment struct {
	ID             int64     `json:"id"`
	Version        int       `json:"version"`
	Text           string    `json:"text"`
	Author         user      `json:"author"`
	CreatedDate    stamp     `json:"createdDate"`
	UpdatedDate    stamp     `json:"updatedDate"`
	Comments       []comment `json:"comments"`
	ThreadResolved bool      `json:"threadResolved"`
	Severity       string    `json:"severity"`
	State          string    `json:"state"`
	Tasks          []comment `json:"tasks"`
}

type commitRef struct {
	ID        string `json:"id"`
	DisplayID string `json:"displayId"`
}

type commit struct {
	commitRef
	Author             any         `json:"author"` // a user, or a gitAuthor
	AuthorTimestamp    stamp       `json:"authorTimestamp"`
	Committer          any         `json:"committer"`
	CommitterTimestamp stamp       `json:"committerTimestamp"`
	Message            string      `json:"message"`
	Parents            []commitRef `json:"parents"`
}

// gitAuthor is the author of a commit whom the platform has no user for.
type gitAuthor struct {
	Name         string `json:"name"`
	EmailAddress string `json:"emailAddress"`
}

type change struct {
	Ref      ref    `json:"ref"`
	RefID    string `json:"refId"`
	FromHash string `json:"fromHash"`
	ToHash   string `json:"toHash"`
	Type     string `json:"type"`
}

type mirror struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type secretLocation struct {
	CommitID   string      `json:"commitId"`
	Line       int         `json:"line"`
	Path       string      `json:"path"`
	RuleName   string      `json:"ruleName"`
	Repository *repository `json:"repository"`
}

// stamp is a time in one of the platform's two styles.
type stamp struct {
	at  time.Time
	iso bool
}

func (s stamp) MarshalJSON() ([]byte, error) {
	if s.iso {
		return s.at.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
	}
	return strconv.AppendInt(nil, s.at.UnixMilli(), 10), nil
}

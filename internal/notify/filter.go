package notify

import (
	"strings"
	"unicode/utf8"

	"outrigger/internal/fault"
)

// Filter is what a rule asks of an event besides its level. An empty member
// asks nothing. It is kept as JSON, so a member once named keeps its name.
type Filter struct {
	EventTypes   []EventType     `json:"eventTypes"`
	Projects     []string        `json:"projects,omitempty"`
	Repositories []RepositoryRef `json:"repositories,omitempty"`

	// Masks are Java regular expressions that the whole name must match. An
	// event without such a branch passes.
	Branches          []string `json:"branches,omitempty"`
	BranchMask        string   `json:"branchMask,omitempty"`
	IgnoredBranchMask string   `json:"ignoredBranchMask,omitempty"`
	SourceBranchMask  string   `json:"sourceBranchMask,omitempty"` // of pull requests

	// Who caused the event; groups are those of the platform.
	Users         []string `json:"users,omitempty"`
	IgnoredUsers  []string `json:"ignoredUsers,omitempty"`
	Groups        []string `json:"groups,omitempty"`
	IgnoredGroups []string `json:"ignoredGroups,omitempty"`

	// Reviewers are whom a pull request must ask, at least one of them; other
	// events pass.
	Reviewers []string `json:"reviewers,omitempty"`

	// Of rules of the cloud edition alone, which have no other filter than these
	// and the event types. DestinationBranchFilter is a JavaScript regular
	// expression that is found anywhere in the name of the event's branch; an
	// event without one passes. Every rule of the cloud edition has an
	// ExpectedCommitStatus.
	DestinationBranchFilter string       `json:"destinationBranchFilter,omitempty"`
	ExpectedCommitStatus    CommitStatus `json:"expectedCommitStatus,omitempty"`
}

// OfCloud reports whether it is the filter of a rule of the cloud edition.
func (f *Filter) OfCloud() bool { return f.ExpectedCommitStatus != "" }

// RepositoryRef names a repository of a connection; as a Scope, with keys left out, all
// of a project or of the platform.
type RepositoryRef struct {
	ProjectKey    string `json:"projectKey"`
	RepositoryKey string `json:"repositoryKey"`
}

// Folded makes references comparable.
func (r RepositoryRef) Folded() RepositoryRef {
	return RepositoryRef{ProjectKey: Fold(r.ProjectKey), RepositoryKey: Fold(r.RepositoryKey)}
}

func (r *Rule) validateBranches(f *fault.Fields) {
	checkNames(f, "branches", r.Branches)
	if r.BranchMask != "" && len(r.Branches) > 0 {
		f.Add("branchMask", "Give either branches or a branchMask, not both.")
	}
	for _, m := range r.maskMembers() {
		if _, err := m.compile(); err != nil {
			f.Add(m.condition.String(), "%s", err)
		}
	}
}

func (r *Rule) validateNarrowing(f *fault.Fields) {
	level := r.Level()
	checkNames(f, "projects", r.Projects)
	checkKeys(f, "projects", r.Projects...)
	if len(r.Projects) > 0 && r.ProjectKey != "" {
		f.Add("projects", "Only a global rule can be narrowed to projects; this one belongs to project %s.", r.ProjectKey)
	}
	if len(r.Repositories) > maxEntries {
		f.Add("repositories", "%d entries; at most %d are allowed.", len(r.Repositories), maxEntries)
	}
	for _, ref := range r.Repositories {
		switch {
		case level == RepositoryLevel:
			f.Add("repositories", "A rule of one repository cannot be narrowed to repositories.")
			return
		case ref.ProjectKey == "" || ref.RepositoryKey == "":
			f.Add("repositories", "Every entry needs projectKey and repositoryKey.")
			return
		case level == ProjectLevel && !strings.EqualFold(ref.ProjectKey, r.ProjectKey):
			f.Add("repositories", "%s/%s is not in project %s.", ref.ProjectKey, ref.RepositoryKey, r.ProjectKey)
			return
		case !checkKeys(f, "repositories", ref.ProjectKey, ref.RepositoryKey):
			return
		}
	}
}

// checkKeys is checkKey for a list: it names the first that is wrong.
func checkKeys(f *fault.Fields, field string, keys ...string) bool {
	for _, key := range keys {
		had := len(*f)
		if ValidateKey(f, field, key); len(*f) > had {
			return false
		}
	}
	return true
}

func (r *Rule) validatePeople(f *fault.Fields) {
	checkNames(f, "users", r.Users)
	checkNames(f, "ignoredUsers", r.IgnoredUsers)
	checkGroups(f, "groups", r.Groups)
	checkGroups(f, "ignoredGroups", r.IgnoredGroups)
	checkNames(f, "reviewers", r.Reviewers)
}

// ValidateGroups refuses groups where c cannot say who is in them.
func (r *Rule) ValidateGroups(f *fault.Fields, c *Connection) {
	for _, m := range []struct {
		name   string
		groups []string
	}{{"groups", r.Groups}, {"ignoredGroups", r.IgnoredGroups}} {
		if len(m.groups) > 0 && !c.Answers() {
			f.Add(m.name, "The connection %s has no account to ask the platform who is in a group; give it a user and a token, or "+
				"leave groups out.", c.Name)
		}
	}
}

func checkGroups(f *fault.Fields, field string, names []string) {
	if len(names) > maxGroups {
		f.Add(field, "%d groups; at most %d are allowed. Make a group on the platform that holds them.", len(names), maxGroups)
		return
	}
	checkNames(f, field, names)
}

func checkNames(f *fault.Fields, field string, names []string) {
	if len(names) > maxEntries {
		f.Add(field, "%d entries; at most %d are allowed.", len(names), maxEntries)
	}
	for _, n := range names {
		if strings.TrimSpace(n) == "" || utf8.RuneCountInString(n) > MaxName {
			f.Add(field, "Every entry needs 1 to %d characters.", MaxName)
			return
		}
	}
}

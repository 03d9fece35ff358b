package notify

import (
	"strings"
	"unicode/utf8"

	"outrigger/internal/fault"
)

// Filter is what a rule asks of an event besides its level. An empty member
// asks nothing. It is kept as JSON, so a member once named keeps its name.
type Filter struct {
	EventTypes []EventType `json:"eventTypes"`
	Branches   []string    `json:"branches,omitempty" doc:"Names; not together with branchMask."`

	// Masks are Java regular expressions that the whole name must match. An
	// event without such a branch passes.
	BranchMask        string `json:"branchMask,omitempty" form:"raw"`
	IgnoredBranchMask string `json:"ignoredBranchMask,omitempty" form:"raw" doc:"Branches and tags that are never notified; as branchMask."`
	SourceBranchMask  string `json:"sourceBranchMask,omitempty" form:"raw"`

	Projects     []string        `json:"projects,omitempty" doc:"Narrows a global rule."`
	Repositories []RepositoryRef `json:"repositories,omitempty"`

	// Groups are those of the platform.
	Users         []string `json:"users,omitempty" doc:"Who must have caused the event."`
	IgnoredUsers  []string `json:"ignoredUsers,omitempty" doc:"Who must not."`
	Groups        []string `json:"groups,omitempty" max:"50"`
	IgnoredGroups []string `json:"ignoredGroups,omitempty" doc:"Who caused the event must be in none of these; as groups."`
	Reviewers     []string `json:"reviewers,omitempty" doc:"A pull request must ask one of these users; other events pass."`

	// Of rules of the cloud edition alone, which have no other filter than these
	// and the event types. DestinationBranchFilter is a JavaScript regular
	// expression that is found anywhere in the name of the event's branch; an
	// event without one passes. Every rule of the cloud edition has an
	// ExpectedCommitStatus.
	DestinationBranchFilter string       `json:"destinationBranchFilter,omitempty" form:"raw"`
	ExpectedCommitStatus    CommitStatus `json:"expectedCommitStatus,omitempty"`
}

// OfCloud reports whether it is the filter of a rule of the cloud edition.
func (f *Filter) OfCloud() bool { return f.ExpectedCommitStatus != "" }

// RepositoryRef names a repository of a connection; as a Scope, with keys left out, all
// of a project or of the platform.
type RepositoryRef struct {
	ProjectKey    string `json:"projectKey" doc:"The project's key."`
	RepositoryKey string `json:"repositoryKey" doc:"The repository's slug."`
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

// peopleList is a member of a filter that names users or groups.
type peopleList struct {
	member string
	names  *[]string
	groups bool
}

func (f *Filter) people() []peopleList {
	return []peopleList{
		{"users", &f.Users, false}, {"ignoredUsers", &f.IgnoredUsers, false},
		{"groups", &f.Groups, true}, {"ignoredGroups", &f.IgnoredGroups, true}, {"reviewers", &f.Reviewers, false},
	}
}

func (r *Rule) validatePeople(f *fault.Fields) {
	for _, list := range r.people() {
		if n := len(*list.names); list.groups && n > maxGroups {
			f.Add(list.member, "%d groups; at most %d are allowed. Make a group on the platform that holds them.", n, maxGroups)
			continue
		}
		checkNames(f, list.member, *list.names)
	}
}

// ValidateGroups refuses groups where c cannot say who is in them.
func (r *Rule) ValidateGroups(f *fault.Fields, c *Connection) {
	for _, list := range r.people() {
		if list.groups && len(*list.names) > 0 && !c.Answers() {
			f.Add(list.member, "The connection %s has no account to ask the platform who is in a group; give it a user and a token, or "+
				"leave groups out.", c.Name)
		}
	}
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

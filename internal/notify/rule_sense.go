package notify

import (
	"regexp"
	"strings"

	"outrigger/internal/fault"
)

// What a rule can never do is refused when it is saved, and what its author
// probably did not mean is said then.

// trimmed is the rule with no white space around names and keys: no platform
// has any there, so that such an entry could never match.
func (r Rule) trimmed() Rule {
	r.Branches, r.Projects = trimAll(r.Branches), trimAll(r.Projects)
	r.Users, r.IgnoredUsers = trimAll(r.Users), trimAll(r.IgnoredUsers)
	r.ProjectKey, r.RepositoryKey = strings.TrimSpace(r.ProjectKey), strings.TrimSpace(r.RepositoryKey)
	repositories := r.Repositories
	r.Repositories = nil
	for _, ref := range repositories {
		r.Repositories = append(r.Repositories, RepositoryRef{
			ProjectKey: strings.TrimSpace(ref.ProjectKey), RepositoryKey: strings.TrimSpace(ref.RepositoryKey),
		})
	}
	return r
}

func trimAll(names []string) []string {
	var all []string
	for _, n := range names {
		all = append(all, strings.TrimSpace(n))
	}
	return all
}

// validateEdition refuses event types that the rule's platform never sends.
func (r *Rule) validateEdition(f *fault.Fields, edition Edition) {
	for _, t := range r.EventTypes {
		if !t.ComesFrom(edition) {
			f.Add("eventTypes", "%s never comes from %s, which is of the %s edition; leave it out.", t, r.Connection, edition)
		}
	}
}

// validateBranchFilter refuses a filter that no event of the rule could fail.
func (r *Rule) validateBranchFilter(f *fault.Fields) {
	field := "branches"
	switch {
	case r.BranchMask != "":
		field = "branchMask"
	case len(r.Branches) == 0:
		return
	}
	for _, t := range r.EventTypes {
		if t.HasBranch() {
			return
		}
	}
	if len(r.EventTypes) > 0 {
		f.Add(field, "No event that you chose has a branch, so this would filter nothing: leave it out, or choose events of branches, tags, pull requests or builds.")
	}
}

// Warnings are what looks like a mistake in a rule that may be saved all the
// same, by member.
func (r *Rule) Warnings() []fault.Field {
	var f fault.Fields
	if wildcard.MatchString(r.BranchMask) {
		f.Add("branchMask", "This looks like a wildcard, but a mask is a regular expression, in which * repeats the character before it. For any name there, write %s.",
			wildcard.ReplaceAllString(r.BranchMask, "$1.*$2"))
	}
	return f
}

// wildcard finds a * that repeats a single character at the end of a part of a
// name, as in release/* or hotfix-*/x: there few mean a regular expression.
var wildcard = regexp.MustCompile(`((?:^|[^\\])[A-Za-z0-9/_-])\*($|[/|)_-])`)

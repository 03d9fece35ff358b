package notify

import (
	"regexp"
	"slices"
	"strings"

	"outrigger/internal/fault"
)

// What a rule can never do is refused when it is saved, and what its author
// probably did not mean is said then.

// Trimmed is the rule with no white space around names and keys: no platform has
// any there, so that such an entry could never match. Of a mask it is a part.
func (r Rule) Trimmed() Rule {
	r.Branches, r.Projects = trimAll(r.Branches), trimAll(r.Projects)
	for _, list := range r.people() {
		*list.names = trimAll(*list.names)
	}
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

// ValidateEdition refuses event types that the rule's platform never sends.
func (r *Rule) ValidateEdition(f *fault.Fields, edition Edition) {
	for _, t := range r.EventTypes {
		if !t.ComesFrom(edition) {
			f.Add("eventTypes", "%s never comes from %s, which is of the %s edition; leave it out.", t, r.Connection, edition)
		}
	}
}

// validateSense refuses filters that no event of the rule could pass, or fail.
func (r *Rule) validateSense(f *fault.Fields) {
	if len(r.EventTypes) > 0 {
		r.validateTypesHave(f, EventType.hasBranch,
			"No event that you chose has a branch, so this would filter nothing: leave it out, or choose events of branches, tags, pull "+
				"requests or builds.",
			given("branches", len(r.Branches)), given("branchMask", len(r.BranchMask)),
			given("ignoredBranchMask", len(r.IgnoredBranchMask)), given("destinationBranchFilter", len(r.DestinationBranchFilter)))
		r.validateTypesHave(f, EventType.ofPullRequest,
			"No event that you chose is about a pull request, so this would filter nothing: leave it out, or choose events of pull "+
				"requests.",
			given("sourceBranchMask", len(r.SourceBranchMask)), given("reviewers", len(r.Reviewers)))
		r.validateTypesHave(f, EventType.hasUser,
			"Builds have no user, so the rule would never take an event: leave it out, or choose other events.",
			given("users", len(r.Users)), given("groups", len(r.Groups)))
	}
	if r.ofRepositories() && len(r.EventTypes) > 0 {
		r.validateTypesHave(f, EventType.hasRepository,
			"These events are of a project as a whole, so a rule of repositories would never take one: choose other events, or make a "+
				"rule of the project.", "eventTypes")
	}
	for _, m := range []struct {
		name            string
		wanted, ignored []string
	}{{"ignoredUsers", r.Users, r.IgnoredUsers}, {"ignoredGroups", r.Groups, r.IgnoredGroups}} {
		ignored := foldedSet(m.ignored)
		if len(m.wanted) > 0 && !slices.ContainsFunc(m.wanted, func(n string) bool { return !ignored[Fold(n)] }) {
			f.Add(m.name, "It lists everything in %s, so the rule would never take an event.",
				strings.ToLower(strings.TrimPrefix(m.name, "ignored")))
		}
	}
}

// ofRepositories reports whether a rule of the self-hosted edition takes only events
// of repositories.
func (r *Rule) ofRepositories() bool {
	return !r.OfCloud() && (r.RepositoryKey != "" || len(r.Repositories) > 0 && len(r.Projects) == 0)
}

// given is the member's name where it has something, else "".
func given(member string, length int) string {
	if length == 0 {
		return ""
	}
	return member
}

// validateTypesHave refuses the members given where none of the rule's types
// has what they look at.
func (r *Rule) validateTypesHave(f *fault.Fields, has func(EventType) bool, message string, members ...string) {
	if slices.ContainsFunc(r.EventTypes, has) {
		return
	}
	for _, m := range members {
		if m != "" {
			f.Add(m, "%s", message)
		}
	}
}

// Warnings are what looks like a mistake in a rule that may be saved all the
// same, by member.
func (r *Rule) Warnings() []fault.Field {
	var f fault.Fields
	for _, m := range r.maskMembers() {
		warnOfMask(&f, m.condition.String(), m.edition(), m.pattern)
	}
	if s := r.ExpectedCommitStatus; (s == StatusSuccess || s == StatusFailure) && !slices.Contains(r.EventTypes, BuildStatusSet) {
		f.Add("expectedCommitStatus", "This applies to %s only, which you did not choose; pipeline events have the status in their names.",
			BuildStatusSet)
	}
	if slices.Contains(r.EventTypes, BuildStatusSet) {
		for _, m := range []string{given("users", len(r.Users)), given("groups", len(r.Groups))} {
			if m != "" {
				f.Add(m, "Builds have no user, so the rule takes none while this is given.")
			}
		}
	}
	return f
}

// MaskWarnings say what looks like a mistake in a mask by itself. The edition
// says in which dialect it is.
func MaskWarnings(e Edition, pattern string) (warnings []string) {
	var f fault.Fields
	warnOfMask(&f, "", e, pattern)
	for _, w := range f {
		warnings = append(warnings, w.Message)
	}
	return warnings
}

// warnOfMask says what looks like a mistake in a mask.
func warnOfMask(f *fault.Fields, field string, e Edition, pattern string) {
	if wildcard.MatchString(pattern) {
		f.Add(field, "This looks like a wildcard, but a mask is a regular expression, in which * repeats the character before it. For any "+
			"name there, write %s.",
			wildcard.ReplaceAllString(pattern, "$1.*$2"))
	}
	if pattern != strings.TrimSpace(pattern) {
		f.Add(field, "The mask begins or ends with white space, which no branch name does.")
	}
	if literal := javaScriptLiteral.FindStringSubmatch(pattern); literal != nil && e == Cloud {
		f.Add(field, "If you mean a JavaScript literal, write it without the slashes and flags around it: %s. As written, the slashes are "+
			"part of the expression.", literal[1])
	}
}

// javaScriptLiteral is a regular expression as a program in JavaScript has it.
var javaScriptLiteral = regexp.MustCompile(`^/(.+)/[dgimsuvy]*$`)

// wildcard finds a * that repeats a single character at the end of a part of a
// name, as in release/* or hotfix-*/x: there few mean a regular expression.
var wildcard = regexp.MustCompile(`((?:^|[^\\])[A-Za-z0-9/_-])\*($|[/|)_-])`)

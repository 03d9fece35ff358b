package notify

import (
	"errors"
	"fmt"
	"slices"

	"outrigger/internal/notify/branchmask"
)

// CompiledRule is a rule made ready to judge events.
type CompiledRule struct {
	*Rule
	places  []Condition // those that a RuleSet's index has answered
	filters []Condition // the others

	types        TypeSet
	branches     map[string]bool
	masks        map[Condition]*branchmask.Mask
	givenUp      Conditions      // masks that are not run any more
	users        map[string]bool // folded names
	ignoredUsers map[string]bool
	reviewers    map[string]bool
	quiet        *quietHours // nil: none

	// broken says why the rule cannot be used, and brokenBy which condition is to
	// blame. Such a rule refuses every event.
	broken   error
	brokenBy Condition
}

// errNoTypes is returned for a stored filter that cannot be read, or that a later release
// wrote.
var errNoTypes = errors.New("its filter holds no event type that is known here")

// CompileRule makes a rule ready. If the rule cannot be used, such as for a mask that does
// not compile, it returns the error and a rule that refuses every event.
func CompileRule(r *Rule) (*CompiledRule, error) {
	c := &CompiledRule{
		Rule:         r,
		types:        NewTypeSet(r.EventTypes...),
		users:        foldedSet(r.Users),
		ignoredUsers: foldedSet(r.IgnoredUsers),
		reviewers:    foldedSet(r.Reviewers),
		quiet:        compileQuietHours(r.QuietHours),
	}
	if len(r.Branches) > 0 {
		c.branches = make(map[string]bool, len(r.Branches))
		for _, b := range r.Branches {
			c.branches[shortRef(b)] = true
		}
	}
	c.compileMasks()
	if len(r.EventTypes) == 0 {
		c.broken, c.brokenBy = errNoTypes, byEventTypes
	}
	for at := range conditionCount {
		switch {
		case !conditions[at].asked(c):
		case at <= byPlaces:
			c.places = append(c.places, at)
		default:
			c.filters = append(c.filters, at)
		}
	}
	return c, c.broken
}

func (c *CompiledRule) compileMasks() {
	for _, m := range c.maskMembers() {
		mask, err := m.compile()
		if err != nil {
			c.broken, c.brokenBy = fmt.Errorf("%s: %w", m.condition, err), m.condition
			return
		}
		if c.masks == nil {
			c.masks = make(map[Condition]*branchmask.Mask, 1)
		}
		c.masks[m.condition] = mask
		if f := c.maskFailure(m); f != nil && f.givenUp() {
			c.givenUp = c.givenUp.With(m.condition)
		}
	}
}

// maskMember is a member of a rule that is a mask.
type maskMember struct {
	condition Condition
	pattern   string
}

// edition returns the edition of the rules that have the member.
func (m maskMember) edition() Edition {
	if m.condition == byDestinationBranch {
		return Cloud
	}
	return SelfHosted
}

// compile makes the mask ready, in the dialect of its edition. Errors are
// *branchmask.SyntaxError.
func (m maskMember) compile() (*branchmask.Mask, error) {
	if m.edition() == Cloud {
		return branchmask.JavaScript(m.pattern)
	}
	return branchmask.Java(m.pattern)
}

// maskMembers lists the masks that a rule has.
func (f *Filter) maskMembers() []maskMember {
	var masks []maskMember
	for _, m := range []maskMember{
		{byBranchMask, f.BranchMask},
		{byIgnoredBranchMask, f.IgnoredBranchMask},
		{bySourceBranchMask, f.SourceBranchMask},
		{byDestinationBranch, f.DestinationBranchFilter},
	} {
		if m.pattern != "" {
			masks = append(masks, m)
		}
	}
	return masks
}

// matchMask answers whether a branch matches one of the rule's masks. An event without
// that branch passes.
func (c *CompiledRule) matchMask(at Condition, branch string, a Answers) Answer {
	mask := c.masks[at]
	switch {
	case branch == "":
		return Yes
	case mask.Quick(branch):
		matches, _ := mask.Match(branch) // a quick one gives no error
		return AnswerOf(matches)
	case c.givenUp.Has(at):
		return Unanswered
	case a == nil:
		return Unknown
	}
	return a.Mask(at, mask, branch)
}

// namesPlace reports whether the rule is narrowed to these folded keys.
func (c *CompiledRule) namesPlace(project, repository string) bool {
	if slices.ContainsFunc(c.Projects, func(key string) bool { return Fold(key) == project }) {
		return true
	}
	return repository != "" && slices.ContainsFunc(c.Repositories, func(ref RepositoryRef) bool {
		return Fold(ref.ProjectKey) == project && Fold(ref.RepositoryKey) == repository
	})
}

func (c *CompiledRule) placeNames() []string {
	names := slices.Clone(c.Projects)
	for _, ref := range c.Repositories {
		names = append(names, ref.ProjectKey+"/"+ref.RepositoryKey)
	}
	return names
}

// asksReviewer reports whether a pull request asks one of the rule's reviewers.
// An event that is not about a pull request passes.
func (c *CompiledRule) asksReviewer(e *Event) bool {
	return e.PullRequest == nil || slices.ContainsFunc(e.Reviewers, func(u User) bool { return c.reviewers[Fold(u.Name)] })
}

// inGroups answers whether a user is in one of the groups; "" is in none.
func inGroups(at Condition, groups []string, user string, a Answers) Answer {
	switch {
	case user == "":
		return No
	case a == nil:
		return Unknown
	}
	return a.InGroups(at, groups, user)
}

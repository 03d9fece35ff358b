package notify

import (
	"errors"
	"strings"

	"outrigger/internal/notify/branchmask"
)

// RuleSet is the enabled rules of one generation, indexed so that an event
// meets only the rules of its own project and repository, with the platforms
// of that generation. It never changes; a save makes a new one.
type RuleSet struct {
	Generation  int64
	Platforms   *Platforms // nil before the first load
	byID        map[int64]*compiledRule
	connections map[string]*connectionRules
}

// connectionRules hold a rule under the narrowest key it names: a global
// rule narrowed to repositories stands with those repositories.
type connectionRules struct {
	all          []*compiledRule
	projects     map[string][]*compiledRule // by folded project key
	repositories map[string][]*compiledRule // by folded "project/repository"
}

type compiledRule struct {
	*Rule
	broken       bool // matches nothing; what waits for it still goes out
	types        TypeSet
	branches     map[string]bool
	mask         *branchmask.Mask
	users        map[string]bool // folded names
	ignoredUsers map[string]bool
}

// NewRuleSet indexes the enabled ones of rules. A rule that cannot be used,
// because its mask no longer compiles, is in broken with the reason, and
// matches nothing.
func NewRuleSet(generation int64, rules []*Rule) (set *RuleSet, broken map[int64]error) {
	return new(RuleSet).Next(generation, rules)
}

// Next is NewRuleSet for rules of which some are s's own: those are not
// compiled again.
func (s *RuleSet) Next(generation int64, rules []*Rule) (set *RuleSet, broken map[int64]error) {
	set = &RuleSet{
		Generation:  generation,
		byID:        make(map[int64]*compiledRule, len(rules)),
		connections: make(map[string]*connectionRules),
	}
	for _, r := range rules {
		if !r.Enabled {
			continue
		}
		c := s.byID[r.ID]
		if c == nil || c.Rule != r {
			var err error
			if c, err = compileRule(r); err != nil {
				c = &compiledRule{Rule: r, broken: true}
				if broken == nil {
					broken = make(map[int64]error)
				}
				broken[r.ID] = err
			}
		}
		set.byID[r.ID] = c
		if !c.broken {
			set.add(c)
		}
	}
	return set, broken
}

// errNoTypes is of a stored filter that cannot be read, or was written by a
// later release.
var errNoTypes = errors.New("its filter holds no event type that is known here")

func compileRule(r *Rule) (*compiledRule, error) {
	if len(r.EventTypes) == 0 {
		return nil, errNoTypes
	}
	c := &compiledRule{
		Rule:         r,
		types:        NewTypeSet(r.EventTypes...),
		users:        foldedSet(r.Users),
		ignoredUsers: foldedSet(r.IgnoredUsers),
	}
	if len(r.Branches) > 0 {
		c.branches = make(map[string]bool, len(r.Branches))
		for _, b := range r.Branches {
			c.branches[shortRef(b)] = true
		}
	}
	if r.BranchMask != "" {
		m, err := compileMask(r.BranchMask)
		if err != nil {
			return nil, err
		}
		c.mask = m
	}
	return c, nil
}

func (s *RuleSet) add(c *compiledRule) {
	conn := s.connections[c.Connection]
	if conn == nil {
		conn = &connectionRules{
			projects:     make(map[string][]*compiledRule),
			repositories: make(map[string][]*compiledRule),
		}
		s.connections[c.Connection] = conn
	}
	switch {
	case c.RepositoryKey != "":
		conn.addRepository(c, c.ProjectKey, c.RepositoryKey)
	case len(c.Repositories) > 0 || len(c.Projects) > 0:
		for _, ref := range c.Repositories {
			conn.addRepository(c, ref.ProjectKey, ref.RepositoryKey)
		}
		for _, p := range c.Projects {
			conn.projects[Fold(p)] = append(conn.projects[Fold(p)], c)
		}
	case c.ProjectKey != "":
		conn.projects[Fold(c.ProjectKey)] = append(conn.projects[Fold(c.ProjectKey)], c)
	default:
		conn.all = append(conn.all, c)
	}
}

func (c *connectionRules) addRepository(r *compiledRule, project, repository string) {
	key := Fold(project) + "/" + Fold(repository)
	c.repositories[key] = append(c.repositories[key], r)
}

// Match appends to matched the rules that take the event and gives it back.
// A rule is there once however many of its entries fit.
func (s *RuleSet) Match(e *Event, matched []*Rule) []*Rule {
	conn := s.connections[e.Connection]
	if conn == nil {
		return matched
	}
	types := e.TypeSet()
	user := Fold(e.Actor.Name)
	project := Fold(e.Project.Key)
	matched = take(conn.all, matched, e, types, user)
	matched = take(conn.projects[project], matched, e, types, user)
	if e.Repository.Key != "" {
		matched = take(conn.repositories[project+"/"+Fold(e.Repository.Key)], matched, e, types, user)
	}
	return matched
}

// matchOld is Match for a rename: of the rules that still have the old keys.
func (s *RuleSet) matchOld(e *Event, by KeyChange, matched []*Rule) []*Rule {
	conn := s.connections[e.Connection]
	if conn == nil {
		return matched
	}
	types, user, project := e.TypeSet(), Fold(e.Actor.Name), Fold(by.From.ProjectKey)
	matched = take(conn.projects[project], matched, e, types, user)
	return take(conn.repositories[project+"/"+Fold(by.From.RepositoryKey)], matched, e, types, user)
}

func take(rules []*compiledRule, matched []*Rule, e *Event, types TypeSet, user string) []*Rule {
	for _, c := range rules {
		if c.takes(e, types, user) && !contains(matched, c.Rule) {
			matched = append(matched, c.Rule)
		}
	}
	return matched
}

func (c *compiledRule) takes(e *Event, types TypeSet, user string) bool {
	switch {
	case !c.types.Any(types):
		return false
	case len(c.users) > 0 && !c.users[user]:
		return false
	case c.ignoredUsers[user]:
		return false
	case e.Branch == "": // an event with no branch passes a branch filter
		return true
	case c.branches != nil && !c.branches[e.Branch]:
		return false
	case c.mask != nil:
		ok, err := c.mask.Match(e.Branch)
		return ok || err != nil // rather delivered than lost
	}
	return true
}

// Enabled tells whether any of the rules is enabled in this set.
func (s *RuleSet) Enabled(ids []int64) bool {
	for _, id := range ids {
		if s.byID[id] != nil {
			return true
		}
	}
	return false
}

// On tells whether any of the rules is enabled and sends to the channel.
func (s *RuleSet) On(ids []int64, channelID int64) bool {
	for _, id := range ids {
		if c := s.byID[id]; c != nil && c.ChannelID == channelID {
			return true
		}
	}
	return false
}

// Rule gives the enabled rule with an id; nil where there is none.
func (s *RuleSet) Rule(id int64) *Rule {
	if c := s.byID[id]; c != nil {
		return c.Rule
	}
	return nil
}

// Len is how many enabled rules there are.
func (s *RuleSet) Len() int { return len(s.byID) }

func contains(rules []*Rule, r *Rule) bool {
	for _, m := range rules {
		if m == r {
			return true
		}
	}
	return false
}

func foldedSet(names []string) map[string]bool {
	if len(names) == 0 {
		return nil
	}
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[Fold(n)] = true
	}
	return m
}

// Fold makes keys and user names comparable: the platform compares both
// without case.
func Fold(s string) string { return strings.ToLower(s) }

// shortRef is the display name of a ref that was typed in full.
func shortRef(name string) string {
	for _, prefix := range []string{"refs/heads/", "refs/tags/"} {
		if s, ok := strings.CutPrefix(name, prefix); ok {
			return s
		}
	}
	return name
}

package notify

import (
	"slices"
	"strings"
	"time"

	"outrigger/internal/identity"
)

// RuleSet is the enabled rules of one generation, indexed so that an event
// meets only the rules of its own project and repository, with the platforms
// of that generation. It never changes; a save makes a new one.
type RuleSet struct {
	Generation  int64
	Platforms   *Platforms // nil before the first load
	Reports     ReportTargets
	byID        map[int64]*CompiledRule
	connections map[string]*connectionRules
	quiet       bool // a rule has quiet hours
}

// connectionRules hold a rule under the narrowest key it names: a global
// rule narrowed to repositories stands with those repositories.
type connectionRules struct {
	all          []*CompiledRule
	projects     map[string][]*CompiledRule // by folded project key
	repositories map[string][]*CompiledRule // by folded "project/repository"
	builds       map[string]bool            // places as above whose rules take builds; "" is everywhere
}

// Next indexes the enabled ones of rules. Those that are s's own are not compiled
// again. A rule that cannot be used, because its mask no longer compiles, is in broken
// with the reason, and matches nothing.
func (s *RuleSet) Next(generation int64, rules []*Rule) (set *RuleSet, broken map[int64]error) {
	set = &RuleSet{
		Generation:  generation,
		byID:        make(map[int64]*CompiledRule, len(rules)),
		connections: make(map[string]*connectionRules),
	}
	for _, r := range rules {
		if !r.Enabled {
			continue
		}
		c := s.byID[r.ID]
		if c == nil || c.Rule != r {
			var err error
			if c, err = CompileRule(r); err != nil {
				if broken == nil {
					broken = make(map[int64]error)
				}
				broken[r.ID] = err
			}
		}
		set.byID[r.ID] = c
		set.quiet = set.quiet || c.quiet != nil
		if c.broken == nil {
			set.add(c)
		}
	}
	return set, broken
}

func (s *RuleSet) add(c *CompiledRule) {
	conn := s.connections[c.Connection]
	if conn == nil {
		conn = &connectionRules{
			projects:     make(map[string][]*CompiledRule),
			repositories: make(map[string][]*CompiledRule),
			builds:       make(map[string]bool),
		}
		s.connections[c.Connection] = conn
	}
	builds := slices.Contains(c.EventTypes, BuildStatusSet)
	switch {
	case c.RepositoryKey != "":
		conn.addRepository(c, c.ProjectKey, c.RepositoryKey, builds)
	case len(c.Repositories) > 0 || len(c.Projects) > 0:
		for _, ref := range c.Repositories {
			conn.addRepository(c, ref.ProjectKey, ref.RepositoryKey, builds)
		}
		for _, p := range c.Projects {
			conn.addProject(c, p, builds)
		}
	case c.ProjectKey != "":
		conn.addProject(c, c.ProjectKey, builds)
	default:
		conn.all = append(conn.all, c)
		if builds {
			conn.builds[""] = true
		}
	}
}

func (c *connectionRules) addProject(r *CompiledRule, project string, builds bool) {
	key := Fold(project)
	c.projects[key] = append(c.projects[key], r)
	if builds {
		c.builds[key] = true
	}
}

func (c *connectionRules) addRepository(r *CompiledRule, project, repository string, builds bool) {
	key := Fold(project) + "/" + Fold(repository)
	c.repositories[key] = append(c.repositories[key], r)
	if builds {
		c.builds[key] = true
	}
}

// wantsBuilds reports whether a rule takes builds of the event's repository; nil
// asks for any repository.
func (s *RuleSet) wantsBuilds(connection string, e *Event) bool {
	conn := s.connections[connection]
	switch {
	case conn == nil || len(conn.builds) == 0:
		return false
	case e == nil || conn.builds[""]:
		return true
	}
	project := Fold(e.Project.Key)
	return conn.builds[project] || conn.builds[project+"/"+Fold(e.Repository.Key)]
}

// Match is a rule that takes an event or, while some of its conditions are
// undecided, may take it.
type Match struct {
	*Rule
	Open       Conditions // none: it takes the event
	Unanswered Conditions // those that are not asked any more, which count as met
}

// Match appends the rules that do not refuse the event and gives matches back.
// A rule is there once however many of its entries fit.
func (s *RuleSet) Match(e *Event, matches []Match) []Match {
	conn := s.connections[e.Connection]
	if conn == nil {
		return matches
	}
	of := newSubject(e)
	matches = judgeAll(conn.all, &of, matches)
	matches = judgeAll(conn.projects[of.project], &of, matches)
	if of.repository != "" {
		matches = judgeAll(conn.repositories[of.project+"/"+of.repository], &of, matches)
	}
	return matches
}

// matchOld is Match for a rename: of the rules that still have the old keys.
func (s *RuleSet) matchOld(e *Event, by KeyChange, matches []Match) []Match {
	conn := s.connections[e.Connection]
	if conn == nil {
		return matches
	}
	of, project := newSubject(e), Fold(by.From.ProjectKey)
	matches = judgeAll(conn.projects[project], &of, matches)
	return judgeAll(conn.repositories[project+"/"+Fold(by.From.RepositoryKey)], &of, matches)
}

// judgeAll judges the event by rules that the index found for its place.
func judgeAll(rules []*CompiledRule, of *subject, matches []Match) []Match {
	for _, c := range rules {
		var j Judgement
		if c.ask(c.filters, of, nil, &j); j.Verdict != Refused && !matched(matches, c.Rule) {
			matches = append(matches, Match{c.Rule, j.Open, j.Unanswered})
		}
	}
	return matches
}

// Enabled reports whether any of the rules or reports of a delivery is enabled in this
// set, or it is for its channel itself.
func (s *RuleSet) Enabled(d *Delivery) bool {
	if d.ToChannel {
		return true
	}
	for _, id := range d.Rules {
		if s.byID[id] != nil || s.Reports.has(id) {
			return true
		}
	}
	return false
}

// On reports whether any of the rules or reports of a delivery is enabled and sends to
// where the delivery goes, or it is for its channel itself.
func (s *RuleSet) On(d *Delivery) bool {
	if d.ToChannel {
		return true
	}
	at := d.Destination()
	for _, id := range d.Rules {
		if c := s.byID[id]; c != nil && c.ChannelID == at.ChannelID && c.Format == at.Format || s.Reports.on(id, at) {
			return true
		}
	}
	return false
}

// Quiet reports whether a rule has quiet hours.
func (s *RuleSet) Quiet() bool { return s.quiet }

// HeldUntil is until when a message for the rules waits, of an event that came
// at a time: for the first of them whose quiet hours end. Zero: it goes at once,
// since one of them has none then.
func (s *RuleSet) HeldUntil(rules []int64, e *Event, at time.Time) (until time.Time) {
	if !s.quiet {
		return until
	}
	for _, id := range rules {
		c := s.byID[id]
		if c == nil {
			continue
		}
		end := c.HeldUntil(e, at)
		if end.IsZero() {
			return end
		}
		if until.IsZero() || end.Before(until) {
			until = end
		}
	}
	return until
}

// Compiled returns the enabled rule with an id, ready to judge; nil where there is
// none.
func (s *RuleSet) Compiled(id int64) *CompiledRule { return s.byID[id] }

// Rule returns the enabled rule with an id; nil where there is none.
func (s *RuleSet) Rule(id int64) *Rule {
	if c := s.byID[id]; c != nil {
		return c.Rule
	}
	return nil
}

// Len is how many enabled rules there are.
func (s *RuleSet) Len() int { return len(s.byID) }

func matched(matches []Match, r *Rule) bool {
	return slices.ContainsFunc(matches, func(m Match) bool { return m.Rule == r })
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

// repositories goes through the repositories that rules belong to, until take
// has enough.
func (s *RuleSet) EachRepository(take func(identity.Resource) (enough bool)) {
	for _, c := range s.byID {
		if _, at := c.Access(); at.Repository != "" && take(at) {
			return
		}
	}
}

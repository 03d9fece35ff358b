package notify

import (
	"fmt"
	"math/bits"
	"strings"
)

// Condition is one thing that a rule asks of an event. Their order is the one
// in which they are asked, and in which a refusal is explained: where the event
// is from, what it is, on which branch, and who caused it.
type Condition uint8

const (
	byEnabled Condition = iota
	byConnection
	byProject
	byRepository
	byPlaces // projects and repositories, which are one list
	byAuthorization
	byEventTypes
	byCommitStatus
	byBranches
	byBranchMask
	byIgnoredBranchMask
	bySourceBranchMask
	byDestinationBranch
	byUsers
	byIgnoredUsers
	byReviewers
	byGroups
	byIgnoredGroups
	conditionCount // must stay within the 32 that Conditions holds
)

// Conditions is a set of conditions.
type Conditions uint32

// With is the set with one more.
func (s Conditions) With(c Condition) Conditions { return s | 1<<c }

// Has reports whether c is in the set.
func (s Conditions) Has(c Condition) bool { return s&(1<<c) != 0 }

// List returns the conditions in their order.
func (s Conditions) List() []Condition {
	var list []Condition
	for rest := s; rest != 0; rest &= rest - 1 {
		list = append(list, Condition(bits.TrailingZeros32(uint32(rest))))
	}
	return list
}

// Groups reports whether the condition asks the platform who is in a group. One
// that is undecided and does not ask it has a mask that needs backtracking.
func (c Condition) Groups() bool { return c == byGroups || c == byIgnoredGroups }

// condition is a row of the table that matching, deciding and explaining share.
type condition struct {
	member string // the rule's member, as the REST API names it
	asked  func(*CompiledRule) bool
	check  func(*CompiledRule, *subject, Answers) Answer
	wants  func(*CompiledRule) string
	has    func(*Event) string
}

var conditions = [conditionCount]condition{
	byEnabled: never("enabled", func(c *CompiledRule) bool { return !c.Enabled }),
	byConnection: {
		member: "connection",
		asked:  always,
		check:  func(c *CompiledRule, s *subject, _ Answers) Answer { return AnswerOf(c.Connection == s.Connection) },
		wants:  func(c *CompiledRule) string { return c.Connection },
		has:    func(e *Event) string { return e.Connection },
	},
	byProject: ofText("projectKey", func(c *CompiledRule) string { return c.ProjectKey },
		func(c *CompiledRule, s *subject, _ Answers) Answer {
			project := Fold(c.ProjectKey)
			return AnswerOf(s.anywhere(func(p, _ string) bool { return p == project }))
		},
		func(e *Event) string { return e.Project.Key }),
	byRepository: ofText("repositoryKey", func(c *CompiledRule) string { return c.RepositoryKey },
		func(c *CompiledRule, s *subject, _ Answers) Answer {
			project, repository := Fold(c.ProjectKey), Fold(c.RepositoryKey)
			return AnswerOf(s.anywhere(func(p, r string) bool { return p == project && r == repository }))
		},
		func(e *Event) string { return e.Repository.Key }),
	byPlaces: {
		member: "projects",
		asked:  func(c *CompiledRule) bool { return len(c.Projects)+len(c.Repositories) > 0 },
		check:  func(c *CompiledRule, s *subject, _ Answers) Answer { return AnswerOf(s.anywhere(c.namesPlace)) },
		wants:  func(c *CompiledRule) string { return listed(c.placeNames()) },
		has: func(e *Event) string {
			if e.Repository.Key == "" {
				return e.Project.Key
			}
			return e.Project.Key + "/" + e.Repository.Key
		},
	},
	byAuthorization: never("authorization", func(c *CompiledRule) bool { return c.Paused }),
	byEventTypes: {
		member: "eventTypes",
		asked:  always,
		check:  func(c *CompiledRule, s *subject, _ Answers) Answer { return AnswerOf(c.types.Any(s.types)) },
		wants:  func(c *CompiledRule) string { return listed(TypeKeys(c.EventTypes)) },
		has:    func(e *Event) string { return listed(TypeKeys(e.Types)) },
	},
	byCommitStatus: {
		member: "expectedCommitStatus",
		asked:  func(c *CompiledRule) bool { return c.ExpectedCommitStatus != "" },
		check:  func(c *CompiledRule, s *subject, _ Answers) Answer { return AnswerOf(c.takesStatus(s)) },
		wants:  func(c *CompiledRule) string { return c.ExpectedCommitStatus.wants() },
		has:    hasBuild,
	},
	byBranches: ofList("branches", func(c *CompiledRule) []string { return c.Branches },
		func(c *CompiledRule, s *subject, _ Answers) Answer {
			return AnswerOf(s.Branch == "" || c.branches[s.Branch])
		}, branchName),
	byBranchMask: ofText("branchMask", func(c *CompiledRule) string { return c.BranchMask },
		func(c *CompiledRule, s *subject, a Answers) Answer { return c.matchMask(byBranchMask, s.Branch, a) }, branchName),
	byIgnoredBranchMask: ofText("ignoredBranchMask", func(c *CompiledRule) string { return c.IgnoredBranchMask },
		func(c *CompiledRule, s *subject, a Answers) Answer {
			if s.Branch == "" {
				return Yes
			}
			return c.matchMask(byIgnoredBranchMask, s.Branch, a).not()
		}, branchName),
	bySourceBranchMask: ofText("sourceBranchMask", func(c *CompiledRule) string { return c.SourceBranchMask },
		func(c *CompiledRule, s *subject, a Answers) Answer {
			return c.matchMask(bySourceBranchMask, s.SourceBranch, a)
		},
		func(e *Event) string { return e.SourceBranch }),
	byDestinationBranch: ofText("destinationBranchFilter", func(c *CompiledRule) string { return c.DestinationBranchFilter },
		func(c *CompiledRule, s *subject, a Answers) Answer {
			return c.matchMask(byDestinationBranch, s.Branch, a)
		}, branchName),
	byUsers: ofList("users", func(c *CompiledRule) []string { return c.Users },
		func(c *CompiledRule, s *subject, _ Answers) Answer { return AnswerOf(c.users[s.user]) }, actorName),
	byIgnoredUsers: ofList("ignoredUsers", func(c *CompiledRule) []string { return c.IgnoredUsers },
		func(c *CompiledRule, s *subject, _ Answers) Answer { return AnswerOf(!c.ignoredUsers[s.user]) }, actorName),
	byReviewers: ofList("reviewers", func(c *CompiledRule) []string { return c.Reviewers },
		func(c *CompiledRule, s *subject, _ Answers) Answer { return AnswerOf(c.asksReviewer(s.Event)) },
		func(e *Event) string {
			var names []string
			for _, u := range e.Reviewers {
				names = append(names, u.Name)
			}
			return listed(names)
		}),
	byGroups: ofList("groups", func(c *CompiledRule) []string { return c.Groups },
		func(c *CompiledRule, s *subject, a Answers) Answer {
			return inGroups(byGroups, c.Groups, s.Actor.Name, a)
		}, actorName),
	byIgnoredGroups: ofList("ignoredGroups", func(c *CompiledRule) []string { return c.IgnoredGroups },
		func(c *CompiledRule, s *subject, a Answers) Answer {
			return inGroups(byIgnoredGroups, c.IgnoredGroups, s.Actor.Name, a).not()
		}, actorName),
}

// never is a condition that is not met where it is asked. Reason says what it wants.
func never(member string, asked func(*CompiledRule) bool) condition {
	return condition{
		member: member, asked: asked, check: func(*CompiledRule, *subject, Answers) Answer { return No },
		wants: func(*CompiledRule) string { return "" }, has: func(*Event) string { return "" },
	}
}

// ofText is the condition of a member that is a text, and asks nothing where it is empty.
func ofText(
	member string, is func(*CompiledRule) string, check func(*CompiledRule, *subject, Answers) Answer, has func(*Event) string,
) condition {
	return condition{
		member: member, asked: func(c *CompiledRule) bool { return is(c) != "" }, check: check,
		wants: func(c *CompiledRule) string { return unlike(member) + is(c) }, has: has,
	}
}

// ofList is ofText for a member that is a list.
func ofList(
	member string, is func(*CompiledRule) []string, check func(*CompiledRule, *subject, Answers) Answer, has func(*Event) string,
) condition {
	return condition{
		member: member, asked: func(c *CompiledRule) bool { return len(is(c)) > 0 }, check: check,
		wants: func(c *CompiledRule) string { return unlike(member) + listed(is(c)) }, has: has,
	}
}

// unlike begins what a member wants that names what is ignored.
func unlike(member string) string {
	if strings.HasPrefix(member, "ignored") {
		return "not "
	}
	return ""
}

// String is the member of the rule that the condition comes from, as the REST
// API names it.
func (c Condition) String() string { return conditions[c].member }

// conditionOf is the condition that comes from a member.
func conditionOf(member string) Condition {
	for c := range conditionCount {
		if c.String() == member {
			return c
		}
	}
	return byEnabled
}

func always(*CompiledRule) bool { return true }

func actorName(e *Event) string { return e.Actor.Name }

func branchName(e *Event) string { return e.Branch }

// maxListed is how many entries of a list a reason names.
const maxListed = 20

// listed is a list as a reason shows it.
func listed(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// TypeKeys returns the keys of event types.
func TypeKeys(types []EventType) []string {
	keys := make([]string, len(types))
	for i, t := range types {
		keys[i] = t.String()
	}
	return keys
}

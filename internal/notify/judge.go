package notify

import (
	"errors"
	"fmt"
	"strings"

	"outrigger/internal/notify/branchmask"
)

// Verdict is what a rule says of an event.
type Verdict uint8

const (
	Refused   Verdict = iota
	Taken             // the rule wants a message of it
	Undecided         // it depends on what is not known yet
)

// Judgement is a rule's verdict and what it rests on.
type Judgement struct {
	Verdict    Verdict
	No         Condition  // of Refused: the first that said no
	Open       Conditions // of Undecided: those that could not be decided
	Unanswered Conditions // those that were asked in vain, which count as met
}

// Answer is the result of one condition.
type Answer uint8

const (
	Unknown Answer = iota // not asked yet
	Yes
	No
	Unanswered // it was asked and cannot be told: rather delivered than lost
)

// AnswerOf returns Yes or No.
func AnswerOf(yes bool) Answer {
	if yes {
		return Yes
	}
	return No
}

// not is the answer to the opposite question.
func (a Answer) not() Answer {
	switch a {
	case Yes:
		return No
	case No:
		return Yes
	}
	return a
}

// Answers tells what an event alone does not. There are none while events are received:
// conditions that need them stay undecided.
type Answers interface {
	// Mask reports whether a mask that needs backtracking matches the branch.
	Mask(c Condition, mask *branchmask.Mask, branch string) Answer
	// InGroups reports whether the user, by name, is in one of the groups.
	InGroups(c Condition, groups []string, user string) Answer
}

// Judge asks the rule's conditions in their order. The first that says no decides, even
// if an earlier one is undecided. a may be nil.
func (c *CompiledRule) Judge(e *Event, a Answers) Judgement {
	if c.broken != nil {
		return Judgement{Verdict: Refused, No: c.brokenBy}
	}
	s := newSubject(e)
	if by, ok := e.KeyChange(); ok { // a rule that still has the old keys takes it too
		s.oldProject, s.oldRepository = Fold(by.From.ProjectKey), Fold(by.From.RepositoryKey)
	}
	var j Judgement
	if c.ask(c.places, &s, a, &j); j.Verdict != Refused {
		c.ask(c.filters, &s, a, &j)
	}
	return j
}

// ask adds to j what the conditions say, and stops at the first no.
func (c *CompiledRule) ask(asked []Condition, s *subject, a Answers, j *Judgement) {
	for _, at := range asked {
		switch conditions[at].check(c, s, a) {
		case No:
			*j = Judgement{Verdict: Refused, No: at}
			return
		case Unknown:
			j.Open = j.Open.With(at)
		case Unanswered:
			j.Unanswered = j.Unanswered.With(at)
		}
	}
	j.Verdict = Taken
	if j.Open != 0 {
		j.Verdict = Undecided
	}
}

// Reason says why a rule refused an event: the member of the rule, what it
// wants, and what the event has, each as people read it.
type Reason struct {
	Member string
	Wants  string
	Has    string // empty where the event has none
	// Says is the reason in sentences, where it is none of the event's: Wants and
	// Has are empty then.
	Says string
}

// Excluded returns what the rule wants, without the "not" that it begins with in a filter
// of what is ignored, and whether it is such a filter.
func (r Reason) Excluded() (what string, ok bool) {
	if !strings.HasPrefix(r.Member, "ignored") {
		return r.Wants, false
	}
	return strings.CutPrefix(r.Wants, "not ")
}

// expectedEvents is what the REST API calls the event types of a rule of the
// cloud edition.
const expectedEvents = "expectedEvents"

// Reason explains a refusal of e by this rule.
func (c *CompiledRule) Reason(j Judgement, e *Event) Reason {
	at := &conditions[j.No]
	r := Reason{Member: at.member, Wants: at.wants(c), Has: at.has(e)}
	switch {
	case c.broken != nil:
		r.Wants, r.Has, r.Says = "", "", c.brokenSentence()
	case j.No == byEnabled:
		r.Says = "The rule is disabled."
	case j.No == byAuthorization:
		r.Says = revokedAccount
	case j.No == byPlaces && len(c.Projects) == 0:
		r.Member = "repositories"
	case j.No == byEventTypes && c.OfCloud():
		r.Member = expectedEvents
	}
	return r
}

// Met returns what the rule asks of an event that it took, one thing after the
// other, each with what the event has.
func (r *Rule) Met(e *Event) []Reason {
	c, _ := CompileRule(r) // what cannot be used asks nothing
	var met []Reason
	for _, asked := range [][]Condition{c.places, c.filters} {
		for _, at := range asked {
			met = append(met, c.Reason(Judgement{No: at}, e))
		}
	}
	return met
}

// brokenSentence says why a rule that cannot be used takes nothing.
func (c *CompiledRule) brokenSentence() string {
	why := c.broken.Error()
	var syntax *branchmask.SyntaxError
	if errors.As(c.broken, &syntax) {
		why = "its " + strings.ToLower(MemberLabel(c.brokenBy.String())) + " is not valid: " + syntax.Error()
	}
	return "The rule takes no events, because " + strings.TrimSuffix(why, ".") + ". Correct it and save the rule."
}

// revokedAccount is the reason when the account of a rule was revoked; SayAccount names it.
const revokedAccount = "The rule's account was revoked in Outrigger. The rule takes no events until the account is authorised again."

// OfAccount reports whether the rule's account is the reason.
func (r *Reason) OfAccount() bool { return r.Member == byAuthorization.String() }

// SayAccount names the account that was revoked when an event came, and says whether it
// still is.
func (r *Reason) SayAccount(a *Authorization) {
	if a.State == AuthorizationRevoked {
		r.Says = fmt.Sprintf("Its account %s, which %s authorised, was revoked in Outrigger. The rule takes no events until the "+
			"account is authorised again.", a.AccountName, a.AuthorizedBy)
		return
	}
	r.Says = fmt.Sprintf("Its account %s was revoked in Outrigger when the event came, and has been authorised again since.", a.AccountName)
}

// subject is an event, its names folded once for all rules.
type subject struct {
	*Event
	types               TypeSet
	user                string
	project, repository string

	// Before a rename; empty where the event is none.
	oldProject, oldRepository string
}

func newSubject(e *Event) subject {
	return subject{
		Event: e, types: e.TypeSet(), user: Fold(e.Actor.Name),
		project: Fold(e.Project.Key), repository: Fold(e.Repository.Key),
	}
}

// anywhere reports whether is returns true for the folded keys of the event's repository,
// or for those that it had before a rename.
func (s *subject) anywhere(is func(project, repository string) bool) bool {
	return is(s.project, s.repository) || s.oldProject != "" && is(s.oldProject, s.oldRepository)
}

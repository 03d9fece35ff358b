package deciding

import (
	"context"
	"errors"

	"outrigger/internal/notify"
	"outrigger/internal/notify/branchmask"
)

// openCase is a delivery, what of it is open, and what is known about it.
type openCase struct {
	d        *Decider
	delivery *notify.Delivery
	open     []int64 // rules
	matches  map[question]notify.Answer
	spent    map[*branchmask.Mask]bool // took too many steps on one of the branches
}

// question is whether a mask matches a branch.
type question struct {
	mask   *branchmask.Mask
	branch string
}

func newCase(d *Decider, delivery *notify.Delivery) *openCase {
	return &openCase{
		d: d, delivery: delivery, open: delivery.Undecided,
		matches: make(map[question]notify.Answer), spent: make(map[*branchmask.Mask]bool),
	}
}

// judge decides about the open rules as far as masks, and members where not nil,
// tell. The error is of the database.
func (c *openCase) judge(ctx context.Context, members notify.Memberships) (*notify.Settlement, error) {
	settled := &notify.Settlement{Delivery: c.delivery}
	var open []int64
	for _, id := range c.open {
		rule := c.d.Queue.Rules().Compiled(id)
		switch {
		case rule == nil:
			settled.Decisions = append(settled.Decisions, notify.Decision{RuleID: id, Member: "enabled"})
			continue
		case c.delivery.Event == nil: // cannot be read: the outbox says so
			settled.Decisions = append(settled.Decisions, notify.Decision{RuleID: id, Taken: true})
			continue
		}
		asked := &answers{ctx: ctx, openCase: c, rule: rule.Rule, members: members}
		j, left := rule.Decide(c.delivery.Event, asked)
		if asked.err != nil {
			return nil, asked.err
		}
		switch j.Verdict {
		case notify.Undecided:
			open = append(open, id)
		case notify.Refused:
			settled.Decisions = append(settled.Decisions, notify.Decision{RuleID: id, Member: j.No.String()})
		case notify.Taken:
			settled.Decisions = append(settled.Decisions, notify.Decision{RuleID: id, Taken: true, Note: rule.NoteUnanswered(j.Unanswered)})
			if left != nil {
				settled.Event = left
			}
		}
	}
	c.open = open
	return settled, nil
}

// answers is what a rule asks about an event: notify.Answers, whose methods have
// no context and no error of their own.
type answers struct {
	*openCase
	ctx     context.Context
	rule    *notify.Rule
	members notify.Memberships
	err     error
}

// Mask is of notify.Answers.
func (a *answers) Mask(at notify.Condition, mask *branchmask.Mask, branch string) notify.Answer {
	q := question{mask, branch}
	if known, ok := a.matches[q]; ok {
		return known
	}
	if a.spent[mask] || a.err != nil {
		return notify.Unanswered
	}
	a.matches[q] = a.match(at, mask, branch)
	return a.matches[q]
}

func (a *answers) match(at notify.Condition, mask *branchmask.Mask, branch string) notify.Answer {
	a.d.masks.Lock()
	matches, err := mask.Match(branch)
	a.d.masks.Unlock()
	switch {
	case errors.Is(err, branchmask.ErrBudget):
		a.spent[mask] = true
		a.d.metrics.exhausted.Inc()
		a.err = a.d.Queue.FailMask(a.ctx, notify.NewMaskFailure(a.rule.ID, at.String(), mask.String(), err))
		return notify.Unanswered
	case err != nil: // Java itself fails
		return notify.Unanswered
	case matches:
		return notify.Yes
	}
	return notify.No
}

// InGroups is of notify.Answers.
func (a *answers) InGroups(_ notify.Condition, groups []string, user string) notify.Answer {
	if a.members == nil {
		return notify.Unknown
	}
	member, err := a.members.MemberOf(a.ctx, a.delivery.Event.Connection, user, groups)
	switch {
	case err != nil:
		return notify.Unanswered
	case member:
		return notify.Yes
	}
	return notify.No
}

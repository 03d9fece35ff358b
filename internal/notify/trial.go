package notify

// TriedEvent is an event and what the rule would have made of it.
type TriedEvent struct {
	LoggedEvent
	Outcome RuleOutcome // RuleTook or RuleRefused
	Reason  Reason      // of RuleRefused
	Note    string      // which filters could not be asked, and count as met
}

// Try judges one event. Of an event about many refs it takes part of them where
// it takes any.
func (c *CompiledRule) Try(e LoggedEvent, a Answers) TriedEvent {
	tried := TriedEvent{LoggedEvent: e, Outcome: RuleTook}
	j := c.Judge(e.Event, a)
	reason := Reason{}
	if j.Verdict == Refused {
		reason = c.Reason(j, e.Event)
	} else if refs := e.Event.Refs; refs != nil {
		j, reason = c.judgeNames(e.Event, refs.Names, a)
	}
	if j.Verdict == Refused {
		tried.Outcome, tried.Reason = RuleRefused, reason
	}
	tried.Note = c.NoteUnanswered(j.Unanswered)
	return tried
}

// judgeNames judges an event about many refs by those of them that are named: it
// is refused, for the reason of the first, where all of them are.
func (c *CompiledRule) judgeNames(e *Event, names []string, a Answers) (j Judgement, reason Reason) {
	if len(names) == 0 {
		return Judgement{Verdict: Taken}, reason
	}
	for i, name := range names {
		one := *e
		one.Branch = name
		of := c.Judge(&one, a)
		if of.Verdict != Refused {
			return of, Reason{}
		}
		if i == 0 {
			j, reason = of, c.Reason(of, &one)
		}
	}
	reason.Has = listed(names)
	return j, reason
}

package pages

import "outrigger/internal/notify"

// reason is a filter that said no, as people read it.
type reason struct {
	Filter string // as the rule form calls it
	Wants  string
	Has    string // "": none
	Not    bool   // the rule excludes Wants
	Words  bool   // Wants and Has are words of ours, not user input
	Says   string // the reason in sentences, in place of Wants and Has
}

// reasonOf names the filter of a rule that takes events of types, and what it
// said no to.
func reasonOf(r notify.Reason, types []notify.EventType, e *notify.Event) reason {
	said := reason{Filter: notify.MemberLabel(r.Member), Wants: r.Wants, Has: r.Has, Says: r.Says}
	said.Wants, said.Not = r.Excluded()
	switch {
	case r.Says != "":
	case (r.Member == "eventTypes" || r.Member == "expectedEvents") && e != nil && len(types) > 0:
		said.Wants, said.Has, said.Words = summary(types), summary(e.Types), true
	case r.Member == "expectedCommitStatus":
		said.Words = true
	}
	return said
}

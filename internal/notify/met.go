package notify

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

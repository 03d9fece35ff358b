package notify

import "slices"

// Destination is where a message goes, and in which format.
type Destination struct {
	ChannelID int64
	Format    Format // resolved
}

// RuleTarget is where a rule sends.
type RuleTarget struct {
	Destination
	Enabled bool
}

// Reroute is where a delivery for the rules belongs, which is at now: it stays
// while an enabled rule of its own sends there, else follows one that sends to
// the same channel in another format, else one that sends elsewhere. It is zero
// where none of them is enabled.
func Reroute(rules []int64, targets map[int64]RuleTarget, now Destination) (to Destination) {
	for _, id := range rules {
		switch target := targets[id]; {
		case !target.Enabled:
		case target.Destination == now:
			return now
		case to == Destination{}, target.ChannelID == now.ChannelID && to.ChannelID != now.ChannelID:
			to = target.Destination
		}
	}
	return to
}

// Took returns the rules of the delivery that are known to take its event.
func (d *Delivery) Took() []int64 {
	return slices.DeleteFunc(slices.Clone(d.Rules), func(id int64) bool { return slices.Contains(d.Undecided, id) })
}

// Reroute is where the delivery belongs: where a rule that took its event sends or, only if
// none of these is enabled, one that may yet take it.
func (d *Delivery) Reroute(targets map[int64]RuleTarget) Destination {
	if to := Reroute(d.Took(), targets, d.Destination()); to != (Destination{}) {
		return to
	}
	return Reroute(d.Rules, targets, d.Destination())
}

// Parting is those rules of a delivery that leave it for one of their own.
type Parting struct {
	To    Destination
	Rules []int64
}

// Part divides the rules of a delivery: those that are enabled and do not send to
// where it is, or goes, leave it.
func Part(rules []int64, targets map[int64]RuleTarget, at Destination) (leave []Parting) {
	for _, id := range rules {
		target := targets[id]
		if !target.Enabled || target.Destination == at {
			continue
		}
		i := slices.IndexFunc(leave, func(p Parting) bool { return p.To == target.Destination })
		if i < 0 {
			i, leave = len(leave), append(leave, Parting{To: target.Destination})
		}
		leave[i].Rules = append(leave[i].Rules, id)
	}
	return leave
}

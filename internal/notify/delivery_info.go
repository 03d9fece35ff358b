package notify

import (
	"outrigger/internal/identity"
)

// DeliveryInfo is a delivery as somebody sees it.
type DeliveryInfo struct {
	*Delivery
	Rules   []RuleInfo // those that are left
	Channel Channel
}

// visible tells whether somebody may look at it: who administers a rule that it
// is for.
func (d *DeliveryInfo) visible(who *identity.Principal) bool {
	for i := range d.Rules {
		if who.May(d.Rules[i].Access()) {
			return true
		}
	}
	return who.May(identity.Admin, identity.Where{})
}

// actable tells whether somebody may redeliver or cancel it: who administers
// every rule that it is for.
func (d *DeliveryInfo) actable(who *identity.Principal) bool {
	for i := range d.Rules {
		if !who.May(d.Rules[i].Access()) {
			return false
		}
	}
	return len(d.Rules) > 0 || who.May(identity.Admin, identity.Where{})
}

// in tells whether the delivery's event is of the repository that f asks for.
func (d *DeliveryInfo) in(f DeliveryFilter) bool {
	if f.Project == "" && f.Repository == "" {
		return true
	}
	e := d.Event
	return e != nil && Fold(e.Project.Key) == Fold(f.Project) && (f.Repository == "" || Fold(e.Repository.Key) == Fold(f.Repository))
}

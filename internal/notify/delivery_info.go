package notify

import (
	"outrigger/internal/identity"
)

// DeliveryInfo is a delivery with its rules and channel, as the console and the
// API show it.
type DeliveryInfo struct {
	*Delivery
	Rules   []RuleInfo // those that are left
	Channel Channel
}

// visibleTo tells whether the principal may see it: it administers a rule that
// the delivery is for.
func (d *DeliveryInfo) visibleTo(who *identity.Principal) bool {
	for i := range d.Rules {
		if who.May(d.Rules[i].Access()) {
			return true
		}
	}
	return who.May(identity.Admin, identity.Resource{})
}

// changeableBy tells whether the principal may redeliver or cancel it: it
// administers every rule that the delivery is for.
func (d *DeliveryInfo) changeableBy(who *identity.Principal) bool {
	for i := range d.Rules {
		if !who.May(d.Rules[i].Access()) {
			return false
		}
	}
	return len(d.Rules) > 0 || who.May(identity.Admin, identity.Resource{})
}

// matches tells whether the delivery's event is of the repository that f asks for.
func (d *DeliveryInfo) matches(f DeliveryFilter) bool {
	if f.Project == "" && f.Repository == "" {
		return true
	}
	e := d.Event
	return e != nil && Fold(e.Project.Key) == Fold(f.Project) && (f.Repository == "" || Fold(e.Repository.Key) == Fold(f.Repository))
}

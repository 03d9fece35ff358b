package notify

import (
	"outrigger/internal/identity"
)

// DeliveryInfo is a delivery with its rules and channel, as the console and the
// API show it.
type DeliveryInfo struct {
	*Delivery
	Rules   []RuleInfo   // those that are left
	Reports []ReportInfo // likewise
	Channel Channel
}

// visibleTo tells whether the principal may see it: it administers what the
// event is about, and a rule or report that the delivery is for. A rule alone is not
// enough, since it may have come to the principal's keys later.
func (d *DeliveryInfo) visibleTo(who *identity.Principal) bool {
	if !d.aboutHisOwn(who) {
		return false
	}
	for i := range d.Rules {
		if who.May(d.Rules[i].Access()) {
			return true
		}
	}
	for i := range d.Reports {
		if who.May(d.Reports[i].Access()) {
			return true
		}
	}
	return who.May(identity.Admin, identity.Resource{})
}

// aboutHisOwn tells whether the principal administers what the event is about.
// One that cannot be read shows nothing.
func (d *DeliveryInfo) aboutHisOwn(who *identity.Principal) bool {
	e := d.Event
	return e == nil || who.May(accessOf(e.Connection, e.Project.Key, e.Repository.Key))
}

// changeableBy tells whether the principal may redeliver or cancel it: it
// administers what the event is about, and every rule or report that the
// delivery is for.
func (d *DeliveryInfo) changeableBy(who *identity.Principal) bool {
	if !d.aboutHisOwn(who) {
		return false
	}
	for i := range d.Rules {
		if !who.May(d.Rules[i].Access()) {
			return false
		}
	}
	for i := range d.Reports {
		if !who.May(d.Reports[i].Access()) {
			return false
		}
	}
	return len(d.Rules)+len(d.Reports) > 0 || who.May(identity.Admin, identity.Resource{})
}

// matches tells whether the delivery's event is of the repository that f asks for.
func (d *DeliveryInfo) matches(f DeliveryFilter) bool {
	if f.Project == "" && f.Repository == "" {
		return true
	}
	e := d.Event
	return e != nil && Fold(e.Project.Key) == Fold(f.Project) && (f.Repository == "" || Fold(e.Repository.Key) == Fold(f.Repository))
}

// OfReport tells whether an activity report made the delivery.
func (d *DeliveryInfo) OfReport() bool { return len(ReportIDs(d.Delivery.Rules)) > 0 }

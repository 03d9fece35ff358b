package notify

import "outrigger/internal/identity"

// DeliveryInfo is a delivery with its rules and channel, as the console and the
// API show it.
type DeliveryInfo struct {
	*Delivery
	Rules   []RuleInfo   // those that are left
	Reports []ReportInfo // likewise
	Channel Channel
	Users   *ChannelInfo // what uses the channel, where of its own rules and reports none is left; nil: nothing
}

// ofUsers reports whether the principal may see and change a delivery of which no
// rule or report is left: it administers all that uses the channel.
func (d *DeliveryInfo) ofUsers(who *identity.Principal) bool {
	return who.May(identity.Admin, identity.Resource{}) || len(d.Rules)+len(d.Reports) == 0 && d.Users != nil && d.Users.ChangeableBy(who)
}

// VisibleTo reports whether the principal may see it: it administers what the
// event is about, and a rule or report that the delivery is for; the channel itself,
// where none is left. A rule alone is not
// enough, since it may have come to the principal's keys later.
func (d *DeliveryInfo) VisibleTo(who *identity.Principal) bool {
	return d.aboutHisOwn(who) && (d.administered(who) > 0 || d.ofUsers(who))
}

// administered counts those of the delivery's rules and reports that the principal
// administers.
func (d *DeliveryInfo) administered(who *identity.Principal) (n int) {
	for i := range d.Rules {
		if who.May(d.Rules[i].Access()) {
			n++
		}
	}
	for i := range d.Reports {
		if who.May(d.Reports[i].Access()) {
			n++
		}
	}
	return n
}

// aboutHisOwn reports whether the principal administers what the event is about.
// One that cannot be read shows nothing.
func (d *DeliveryInfo) aboutHisOwn(who *identity.Principal) bool {
	e := d.Event
	return e == nil || who.May(AccessOf(e.Connection, e.Project.Key, e.Repository.Key))
}

// ChangeableBy reports whether the principal may redeliver or cancel it: it
// administers what the event is about, and every rule or report that the
// delivery is for.
func (d *DeliveryInfo) ChangeableBy(who *identity.Principal) bool {
	all := len(d.Rules) + len(d.Reports)
	return d.aboutHisOwn(who) && (all > 0 && d.administered(who) == all || d.ofUsers(who))
}

// Matches reports whether the delivery's event is of the repository that f asks for.
func (d *DeliveryInfo) Matches(f DeliveryFilter) bool {
	if !f.AtPlace() {
		return true
	}
	e := d.Event
	return e != nil && Fold(e.Project.Key) == Fold(f.Project) && (f.Repository == "" || Fold(e.Repository.Key) == Fold(f.Repository))
}

// OfReport reports whether an activity report made the delivery.
func (d *DeliveryInfo) OfReport() bool { return len(ReportIDs(d.Delivery.Rules)) > 0 }

// MaxDigest is how many messages go out in one digest: more lines are not read
// in a chat.
const MaxDigest = 50

// Digest is the deliveries that one message was, or is to be, sent for.
type Digest struct {
	Members []DeliveryInfo // those that who asks may see, the first first
	Others  int            // those that they may not
}

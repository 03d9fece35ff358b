package notify

import (
	"cmp"
	"context"

	"outrigger/internal/identity"
	"outrigger/internal/work"
)

// showReason has a reason be what a reader may read.
func showReason(inside bool, reason, withWords *string) {
	if inside && *withWords != "" {
		*reason = *withWords
	}
	*withWords = ""
}

func (c *Channel) Show(inside bool) {
	showReason(inside, &c.Reason, &c.Inside)
	showReason(inside, &c.GateReason, &c.GateInside)
}

func (r *RuleInfo) Show(inside bool) { r.Channel.Show(inside) }

func (r *ReportInfo) Show(inside bool) {
	r.Channel.Show(inside)
	showReason(inside, &r.LastDelivery.Reason, &r.LastDelivery.Inside)
}

func (d *Delivery) Show(inside bool) {
	showReason(inside, &d.Reason, &d.Inside)
	if d.Last != nil {
		ShowAttempt(d.Last, inside)
	}
}

func (d *DeliveryInfo) Show(inside bool) {
	d.Delivery.Show(inside)
	d.Channel.Show(inside)
	for i := range d.Rules {
		d.Rules[i].Show(inside)
	}
	for i := range d.Reports {
		d.Reports[i].Show(inside)
	}
}

// ShowAttempt withholds an answer, and why there is none, that a reader may not read.
func ShowAttempt(a *work.Attempt, inside bool) {
	if inside || a.Public {
		return
	}
	a.Answer, a.Withheld = "", a.Withheld || a.Answer != ""
	if a.Err != "" {
		a.Err = cmp.Or(a.ErrForAll, "no answer came; an administrator can see why")
	}
}

type withoutInsideKey struct{}

// WithoutInside returns a context that hides what chat platforms answer
// from inside: for what is passed on to people who are not known.
func WithoutInside(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutInsideKey{}, true)
}

// ReadsInside reports whether who asks may read what is answered where
// notify.allowed_networks alone lets messages go: every user who may save a rule can
// have any address there asked.
func ReadsInside(ctx context.Context) bool {
	return ctx.Value(withoutInsideKey{}) == nil && identity.From(ctx).May(identity.Admin, identity.Resource{})
}

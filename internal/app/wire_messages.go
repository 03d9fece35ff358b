package app

import (
	"context"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/message"
)

// writeMessage writes a delivery's message, in its format.
func (a *App) writeMessage(ctx context.Context, d *notify.Delivery) []byte {
	c := card.OfDelivery(d, a.clock())
	c.Mentions = a.mentions(ctx, d)
	return message.Card(c, d.Format)
}

// writeDigest writes one message about as many of the deliveries as have room in it,
// in the format of the first.
func (a *App) writeDigest(ctx context.Context, deliveries []*notify.Delivery) (text []byte, taken int) {
	events := make([]*notify.Event, len(deliveries))
	for i, d := range deliveries {
		events[i] = d.Noted()
	}
	return message.Digest(events, a.mentions(ctx, deliveries...), deliveries[0].Format)
}

// drawMessage writes the message of a delivery, or the digest of several, in a format;
// nil where none of their events is kept.
func (a *App) drawMessage(ctx context.Context, of []*notify.Delivery, format notify.Format) []byte {
	drawn := make([]*notify.Delivery, 0, len(of))
	for _, d := range of {
		if d.Event != nil {
			as := *d
			as.Format = format
			drawn = append(drawn, &as)
		}
	}
	switch len(drawn) {
	case 0:
		return nil
	case 1:
		return a.writeMessage(ctx, drawn[0])
	}
	text, _ := a.writeDigest(ctx, drawn)
	return text
}

// mentions lists whom one message about deliveries mentions: the reviewers of those
// events that a rule with MentionReviewers took.
func (a *App) mentions(ctx context.Context, deliveries ...*notify.Delivery) (list []card.Mention) {
	rules := a.chat.store.Rules()
	users := make(map[string][]notify.User) // by connection
	for _, d := range deliveries {
		if rules.MentionsReviewers(d.Rules) {
			users[d.Event.Connection] = append(users[d.Event.Connection], d.Event.Mentioned()...)
		}
	}
	accounts := make(map[string]map[string]notify.ChatAccount)
	for connection, of := range users {
		found, err := a.chat.store.ChatAccounts(ctx, connection, of)
		if err != nil { // a message without mentions is better than none
			a.log.Warn("reviewers are not mentioned", "delivery", deliveries[0].ID, "error", err)
		}
		accounts[connection] = found
	}
	for _, d := range deliveries {
		if rules.MentionsReviewers(d.Rules) {
			list = card.AppendMentions(list, d.Event, accounts[d.Event.Connection], d.Format)
		}
	}
	return list
}

// testMessage makes a test message: a card of the first type, where there is one.
func testMessage(types []notify.EventType, f notify.Format) []byte {
	return message.Card(message.Test(types), f)
}

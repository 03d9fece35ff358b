package pages

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/cardhtml"
)

type deliveryView struct {
	deliveryRow
	Standing notify.ChannelStatus
	Mask     string
	Waits    bool
	May      bool // who looks may send it, again or not
	Course   []courseStep
	Sent     []sentMessage
	Card     template.HTML
	Digest   *digestView // nil: it has a message of its own
	Why      []tookIt
}

func (p *Pages) showDelivery(r *http.Request) (console.Response, error) {
	d, attempts, err := p.ofPath(r)
	if err != nil {
		return nil, err
	}
	view := deliveryView{
		deliveryRow: p.rowOf(d), Standing: d.Channel.Status(p.Clock()), Mask: d.Channel.Mask,
		Waits: d.FinishedAt.IsZero(), May: d.ChangeableBy(identity.From(r.Context())),
	}
	if err := p.fillDelivery(r.Context(), &view, attempts); err != nil {
		return nil, err
	}
	title := view.What
	if d.Event == nil {
		title = "Delivery " + idText(d.ID)
	}
	return console.Page{
		Template: "delivery", Title: title, Data: view, Up: []console.Link{{Label: "Deliveries", Path: deliveriesPath}},
	}, nil
}

// fillDelivery adds to a view what takes more than the delivery.
func (p *Pages) fillDelivery(ctx context.Context, view *deliveryView, attempts []notify.Attempt) (err error) {
	d := view.DeliveryInfo
	if view.Digest, err = p.digestOf(ctx, d); err != nil {
		return err
	}
	if d.Event != nil {
		if view.Card, err = cardhtml.Fragment(card.OfDelivery(d.Delivery, p.Clock()), d.Format); err != nil {
			return err
		}
	}
	if view.Why, err = p.whyTaken(ctx, d); err != nil {
		return err
	}
	view.Sent = p.sentAgain(ctx, view, attempts)
	view.Course = courseOf(view, attempts)
	return nil
}

// sentMessage is a message of a delivery, drawn again from what is stored.
type sentMessage struct {
	Format notify.Format
	Text   string
	Next   bool // it waits, and is sent like this next
	Others int  // of a digest, those that the reader may not see
}

// Curl is the message as a shell command.
func (m sentMessage) Curl() string { return curlOf(m.Text) }

// Indented is the message for reading.
func (m sentMessage) Indented() string { return indented(m.Text) }

// sentAgain draws what was sent, or would be now, in each format in which it was
// sent without being kept.
func (p *Pages) sentAgain(ctx context.Context, view *deliveryView, attempts []notify.Attempt) (sent []sentMessage) {
	of, others := []*notify.Delivery{view.Delivery}, 0
	if view.Digest != nil {
		of, others = nil, view.Digest.Others
		for i := range view.Digest.Members {
			of = append(of, view.Digest.Members[i].Delivery)
		}
	}
	drawn := make(map[notify.Format]bool)
	draw := func(format notify.Format) {
		if drawn[format] || view.Event == nil || p.Draw == nil {
			return
		}
		drawn[format] = true
		if text := p.Draw(ctx, of, format); len(text) > 0 {
			sent = append(sent, sentMessage{Format: format, Text: string(text), Next: view.Waits && format == view.Format, Others: others})
		}
	}
	if view.Waits {
		draw(view.Format)
	}
	for i := range attempts {
		if attempts[i].Request == "" {
			draw(cmp.Or(attempts[i].Format, view.Format))
		}
	}
	return sent
}

// digestView is the digest that a delivery goes out in.
type digestView struct {
	Members []deliveryRow
	Others  int           // those that the reader may not see
	Card    template.HTML // of the members that are shown
}

// digestOf returns the digest of a delivery: nil where it has a message of its own,
// as one has that was left alone when the others were cancelled.
func (p *Pages) digestOf(ctx context.Context, d notify.DeliveryInfo) (*digestView, error) {
	digest, err := p.Deliveries.Digest(ctx, d)
	if err != nil || len(digest.Members)+digest.Others < 2 {
		return nil, err
	}
	view := &digestView{Others: digest.Others}
	var events []*notify.Event
	for _, m := range digest.Members {
		view.Members = append(view.Members, p.rowOf(m))
		if m.Event != nil {
			events = append(events, m.Event)
		}
	}
	view.Card, err = cardhtml.Digest(card.NewDigest(events), d.Format)
	return view, err
}

// tookIt is a rule of a delivery, as it was when the event came, and why it took it.
type tookIt struct {
	verdictRow
	Met []reason
}

// maxExplained is how many rules of an event are looked through for those of a
// delivery.
const maxExplained = 1000

// whyTaken says why the rules of a delivery took its event; nothing where the event
// is not kept any more.
func (p *Pages) whyTaken(ctx context.Context, d notify.DeliveryInfo) ([]tookIt, error) {
	if d.OfReport() || d.Event == nil {
		return nil, nil
	}
	x, err := p.Events.Explain(ctx, d.EventID, notify.VersionCursor{}, maxExplained)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Forbidden) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var why []tookIt
	for i := range x.Rules {
		v := &x.Rules[i]
		if v.Delivery == nil || v.Delivery.ID != d.ID {
			continue
		}
		took := tookIt{verdictRow: p.verdictRow(v, d.Event, nil)}
		for _, met := range v.Met(d.Event) {
			took.Met = append(took.Met, reasonOf(met, v.EventTypes, d.Event))
		}
		why = append(why, took)
	}
	return why, nil
}

func (p *Pages) redeliver(r *http.Request) (console.Response, error) {
	return p.act(r, p.Deliveries.Redeliver, "It is back in the queue of its channel.")
}

func (p *Pages) tryNow(r *http.Request) (console.Response, error) {
	done, tone := p.triedNow(r.Context(), "Its channel is tried now.")
	response, err := p.act(r, p.Deliveries.TryNow, done)
	if to, ok := response.(console.Redirect); ok && to.Flash == done {
		to.Tone = tone
		return to, err
	}
	return response, err
}

func (p *Pages) confirmCancel(r *http.Request) (console.Response, error) {
	d, _, err := p.ofPath(r)
	if err != nil {
		return nil, err
	}
	return console.Confirm{
		Title: "Do not send this message?", Text: p.rowOf(d).What + ". It stays in the list, and you can send it later.",
		Verb: "Do not send", Keep: "Keep waiting", Back: deliveriesPath + "/" + idText(d.ID),
	}, nil
}

func (p *Pages) cancel(r *http.Request) (console.Response, error) {
	return p.act(r, p.Deliveries.Cancel, "The message is not sent. You can send it later.")
}

// act does something with the delivery that the path names, and goes back to
// its page.
func (p *Pages) act(r *http.Request, do func(context.Context, int64) error, done string) (console.Response, error) {
	d, _, err := p.ofPath(r)
	if err != nil {
		return nil, err
	}
	to := console.Redirect{To: deliveriesPath + "/" + idText(d.ID), Flash: done}
	return to.OrSay(do(r.Context(), d.ID), console.Warn, fault.Conflict)
}

func (p *Pages) ofPath(r *http.Request) (d notify.DeliveryInfo, attempts []notify.Attempt, err error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return d, nil, fault.New(fault.NotFound, "There is no such delivery.")
	}
	return p.Deliveries.Get(r.Context(), id)
}

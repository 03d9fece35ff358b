package pages

import (
	"context"
	"net/http"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

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

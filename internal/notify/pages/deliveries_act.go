package pages

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// actOnSelected redelivers or cancels the deliveries that are ticked.
func (p *Pages) actOnSelected(r *http.Request) (console.Response, error) {
	form, err := console.ReadForm(r)
	if err != nil {
		return nil, err
	}
	var act func(context.Context, int64) error
	var did string
	switch form.Get("do") {
	case "redeliver":
		act, did = p.Deliveries.Redeliver, "put back into the queue"
	case "cancel":
		act, did = p.Deliveries.Cancel, "cancelled"
	default:
		return nil, fault.New(fault.Invalid, "Choose what to do with the deliveries.")
	}
	back, err := url.ParseQuery(form.Get("filter"))
	if err != nil {
		back = nil
	}
	_, filter := p.filterOf(back.Get)
	to := console.Redirect{To: deliveriesPath + filterQuery(filter)}
	done, refused := 0, ""
	for _, s := range form.All("id") {
		id, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			continue
		}
		switch err := act(r.Context(), id); {
		case err == nil:
			done++
		case fault.Is(err, fault.Conflict), fault.Is(err, fault.Forbidden):
			refused = fault.As(err).Message
		default:
			return nil, err
		}
	}
	switch {
	case done == 0 && refused == "":
		to.Flash, to.Tone = "Nothing was selected. Select deliveries first.", console.Warn
	default:
		to.Flash = deliveries(done) + " " + did + "."
		if refused != "" {
			to.Flash, to.Tone = to.Flash+" Of the others: "+refused, console.Warn
		}
	}
	return to, nil
}

func deliveries(n int) string {
	if n == 1 {
		return "1 delivery is"
	}
	return strconv.Itoa(n) + " deliveries are"
}

func (p *Pages) confirmRedeliverAll(r *http.Request) (console.Response, error) {
	_, form := p.filterOf(r.URL.Query().Get)
	return console.Confirm{
		Title: "Redeliver all that match?",
		Text: "Every " + form.Get("state") + " delivery of this list goes back into its channel's queue if an enabled rule still takes it, " +
			"at most 10,000 at once. If many wait, they are sent as digests.",
		Verb: "Redeliver them", Back: deliveriesPath + filterQuery(form), Action: deliveriesPath + "/redeliver" + filterQuery(form),
	}, nil
}

func (p *Pages) redeliverAll(r *http.Request) (console.Response, error) {
	f, form := p.filterOf(r.URL.Query().Get)
	done, err := p.Deliveries.RedeliverAll(r.Context(), f)
	if err != nil {
		return nil, err
	}
	to := console.Redirect{To: deliveriesPath + filterQuery(form.Set("state", "")), Flash: deliveries(done.Queued) + " back in the queue."}
	if done.Skipped > 0 {
		to.Flash, to.Tone = to.Flash+" No enabled rule takes "+strconv.Itoa(done.Skipped)+" others any more.", console.Warn
	}
	return to, nil
}

func (p *Pages) redeliver(r *http.Request) (console.Response, error) {
	return p.act(r, p.Deliveries.Redeliver, "The delivery was put back in its channel's queue.")
}

func (p *Pages) tryNow(r *http.Request) (console.Response, error) {
	done, tone := p.triedNow("Its channel is tried now.")
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
		Title: "Cancel this delivery?", Text: "Its message is not sent. It stays in the list and can be redelivered.",
		Verb: "Cancel delivery", Back: deliveriesPath + "/" + idText(d.ID),
	}, nil
}

func (p *Pages) cancel(r *http.Request) (console.Response, error) {
	return p.act(r, p.Deliveries.Cancel, "The delivery is cancelled. It can be redelivered.")
}

// act does something with the delivery that the path names, and goes back to
// its page.
func (p *Pages) act(r *http.Request, do func(context.Context, int64) error, done string) (console.Response, error) {
	d, _, err := p.ofPath(r)
	if err != nil {
		return nil, err
	}
	to := console.Redirect{To: deliveriesPath + "/" + idText(d.ID), Flash: done}
	switch err := do(r.Context(), d.ID); {
	case fault.Is(err, fault.Conflict):
		to.Flash, to.Tone = fault.As(err).Message, console.Warn
	case err != nil:
		return nil, err
	}
	return to, nil
}

func (p *Pages) ofPath(r *http.Request) (d notify.DeliveryInfo, attempts []attempt, err error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return d, nil, fault.New(fault.NotFound, "There is no such delivery.")
	}
	return p.Deliveries.Get(r.Context(), id)
}

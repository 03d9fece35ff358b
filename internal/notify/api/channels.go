package api

import (
	"fmt"
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// channelJSON is a channel as the API lists it.
type channelJSON struct {
	Channel    string    `json:"channel"`
	Name       string    `json:"name"`
	WebhookURL string    `json:"webhookUrl"`
	Rules      []int64   `json:"rules"`
	Reports    []int64   `json:"reports,omitempty"`
	State      string    `json:"state"` // ok, waiting, unreachable, broken
	Reason     string    `json:"reason,omitempty"`
	Since      time.Time `json:"since,omitzero"`
	Until      time.Time `json:"until,omitzero"`
	LastOKAt   time.Time `json:"lastOkAt,omitzero"`
	Waiting    int       `json:"waiting"`
	Held       int       `json:"held,omitempty"`
	HeldUntil  time.Time `json:"heldUntil,omitzero"`
}

func (a *API) channelOf(c notify.ChannelInfo) channelJSON {
	s := c.Status(a.Clock())
	out := channelJSON{
		Channel: c.Fingerprint, Name: c.Name(), WebhookURL: c.Mask, Rules: []int64{}, State: s.State, Reason: s.Reason,
		Since: s.Since, Until: s.Until, LastOKAt: c.LastOKAt, Waiting: c.Waiting,
		Held: c.Held, HeldUntil: c.HeldUntil,
	}
	for i := range c.Rules {
		out.Rules = append(out.Rules, c.Rules[i].ID)
	}
	for i := range c.Reports {
		out.Reports = append(out.Reports, c.Reports[i].ID)
	}
	return out
}

func (a *API) listChannels(w http.ResponseWriter, r *http.Request) error {
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	ask := notify.ChannelPage{Limit: page.Limit + 1}
	if page.After != "" {
		if _, err := fmt.Sscanf(page.After, "%d/%d", &ask.AfterRank, &ask.AfterID); err != nil {
			return rest.ErrAfter()
		}
	}
	found, err := a.Channels.List(r.Context(), ask)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, found,
		func(c notify.ChannelInfo) string { return fmt.Sprintf("%d/%d", c.Rank(), c.ID) }, a.channelOf))
}

func (a *API) getChannel(w http.ResponseWriter, r *http.Request) error {
	return a.writeChannel(w, r)
}

// writeChannel answers the channel as it is now.
func (a *API) writeChannel(w http.ResponseWriter, r *http.Request) error {
	c, err := a.Channels.Get(r.Context(), r.PathValue("channel"))
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, a.channelOf(c))
}

func (a *API) renameChannel(w http.ResponseWriter, r *http.Request) error {
	var (
		in struct {
			Name string `json:"name"`
		}
		wrong fault.Fields
	)
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return err
	}
	if err := a.Channels.Rename(r.Context(), r.PathValue("channel"), in.Name, wrong); err != nil {
		return err
	}
	return a.writeChannel(w, r)
}

func (a *API) retryChannel(w http.ResponseWriter, r *http.Request) error {
	done, err := a.Channels.Retry(r.Context(), r.PathValue("channel"), rest.Spelled(notify.RetryMode(r.URL.Query().Get("which")), notify.RetryModes()...))
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, retriedJSON{
		Cancelled: done.Cancelled, Waiting: done.Waiting, Answered: done.Answered, State: done.Status.State, Reason: done.Status.Reason,
	})
}

// retriedJSON says what came of a retry of a channel.
type retriedJSON struct {
	Cancelled int    `json:"cancelled"`
	Waiting   int    `json:"waiting"`
	Answered  bool   `json:"answered"`
	State     string `json:"state"`
	Reason    string `json:"reason,omitempty"`
}

func (a *API) testChannel(w http.ResponseWriter, r *http.Request) error {
	done, err := a.Channels.Test(r.Context(), r.PathValue("channel"), rest.Spelled(notify.RetryMode(r.URL.Query().Get("which")), notify.RetryModes()...))
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, testedOf(done))
}

// Tested is what came of a test message.
type Tested struct {
	At     time.Time `json:"at" doc:"When it was sent."`
	Status int       `json:"status,omitempty" doc:"Absent where no answer came."`
	Answer string    `json:"answer,omitempty" doc:"Its first 2 KiB."`

	AnswerWithheld bool    `json:"answerWithheld,omitempty"`
	Error          string  `json:"error,omitempty" doc:"Why no answer came."`
	Seconds        float64 `json:"seconds" doc:"How long it took, in seconds."`
	Opened         *Opened `json:"opened,omitempty" doc:"The channel was broken and is open again, since the chat platform took the message."`
}

// MemberWords describe the members with more to say.
func (Tested) MemberWords() map[string]string {
	return map[string]string{"answerWithheld": whenWithheld}
}

const whenWithheld = "True where there is an answer that only `ADMIN` may read: it did not come from a public address, but from one that " +
	"`notify.allowed_networks` opens."

// Opened is what became of what waited on a broken channel that is open again.
type Opened struct {
	Waiting   int `json:"waiting" doc:"Messages that go out now."`
	Cancelled int `json:"cancelled" doc:"Messages that were left out."`
}

func testedOf(t *notify.Tested) Tested {
	a := attemptOf(t.Attempt)
	return Tested{a.At, a.Status, a.Answer, a.AnswerWithheld, a.Error, a.Seconds, (*Opened)(t.Opened)}
}

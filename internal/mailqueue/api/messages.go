package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/rest"
	"outrigger/internal/work"
)

type recipientJSON struct {
	Address   string          `json:"address"`
	State     mailqueue.State `json:"state"`
	SendCount int             `json:"sendCount"`
	DueAt     time.Time       `json:"dueAt,omitzero"`
	LastError string          `json:"lastError,omitempty"`
}

type messageJSON struct {
	ID         int64             `json:"id"`
	NodeID     string            `json:"nodeId"`
	MessageID  string            `json:"messageId,omitempty"`
	Subject    string            `json:"subject"`
	Sender     string            `json:"sender"`
	Recipients []recipientJSON   `json:"recipients"`
	Bytes      int64             `json:"bytes"`
	QueuedAt   time.Time         `json:"queuedAt"`
	SendCount  int               `json:"sendCount"`
	States     []mailqueue.State `json:"states"` // the queues that it counts in
	DueAt      time.Time         `json:"dueAt,omitzero"`
	LastError  string            `json:"lastError,omitempty"`
	Attempts   []attemptJSON     `json:"attempts,omitempty"`
}

type attemptJSON struct {
	At         time.Time `json:"at"`
	NodeID     string    `json:"nodeId"`
	Recipients []string  `json:"recipients"`
	Status     int       `json:"status,omitempty"`
	Answer     string    `json:"answer,omitempty"`
	Seconds    float64   `json:"seconds"`
	Error      string    `json:"error,omitempty"`
}

func (a *API) listMessages(w http.ResponseWriter, r *http.Request) error {
	page, wrongPage := rest.ReadPage(r)
	f, wrongFilter := mailqueue.ParseFilter(r.URL.Query().Get)
	after, wrongAfter := page.AfterID()
	if err := fault.Every(wrongPage, wrongFilter, wrongAfter); err != nil {
		return err
	}
	f.Limit, f.After = page.Limit+1, after
	found, err := a.Relay.Messages(r.Context(), f)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, found,
		func(m mailqueue.Message) string { return strconv.FormatInt(m.ID, 10) }, func(m mailqueue.Message) messageJSON { return messageOf(&m, nil) }))
}

// bodyFilter reads which messages a request is about, all that the relay has where
// it says nothing, and notes every member that is wrong.
func bodyFilter(r *http.Request) (f mailqueue.MessageFilter, all bool, wrong fault.Fields, _ error) {
	var in struct {
		Node      string `json:"node"`
		State     string `json:"state"`
		Sender    string `json:"sender"`
		Recipient string `json:"recipient"`
		Subject   string `json:"subject"`
		Age       string `json:"age"`
		All       bool   `json:"all"`
	}
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return f, false, nil, err
	}
	members := map[string]string{"node": in.Node, "state": in.State, "sender": in.Sender, "recipient": in.Recipient, "subject": in.Subject, "age": in.Age}
	f, err := mailqueue.ParseFilter(func(name string) string { return members[name] })
	return f, in.All, wrong, wrong.Join(err)
}

func messageOf(m *mailqueue.Message, attempts []mailqueue.Attempt) messageJSON {
	out := messageJSON{
		ID: m.ID, NodeID: m.NodeID, MessageID: m.MessageID, Subject: m.Subject, Sender: m.Sender,
		Recipients: make([]recipientJSON, len(m.Recipients)), Bytes: m.Bytes, QueuedAt: m.QueuedAt,
		SendCount: m.SendCount, States: m.States(), DueAt: m.DueAt, LastError: m.LastError,
	}
	for i, r := range m.Recipients {
		out.Recipients[i] = recipientJSON(r)
	}
	for _, t := range attempts {
		out.Attempts = append(out.Attempts, attemptOf(t.Attempt, t.NodeID, t.Recipients))
	}
	return out
}

func attemptOf(t work.Attempt, node string, recipients []string) attemptJSON {
	return attemptJSON{t.At, node, recipients, t.Status, t.Answer, t.Took.Seconds(), t.Err}
}

func (a *API) message(w http.ResponseWriter, r *http.Request) error {
	id, err := mailqueue.ParseMessageID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	m, attempts, err := a.Relay.Message(r.Context(), id)
	if err != nil {
		return mailqueue.HideMissing(r.Context(), err)
	}
	return rest.WriteJSON(w, r, http.StatusOK, messageOf(&m, attempts))
}

// content gives a message's bytes, as a file: a browser must not show
// foreign content as a page of ours.
func (a *API) content(w http.ResponseWriter, r *http.Request) error {
	id, err := mailqueue.ParseMessageID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	content, err := a.Relay.Look(r.Context(), id)
	if err != nil {
		return mailqueue.HideMissing(r.Context(), err)
	}
	h := w.Header()
	h.Set("Content-Type", "message/rfc822")
	h.Set("Content-Disposition", `attachment; filename="message-`+strconv.FormatInt(id, 10)+`.eml"`)
	h.Set("Content-Length", strconv.Itoa(len(content)))
	// An error here is the client's going away.
	_, _ = w.Write(content)
	return nil
}

func (a *API) deleteMessage(w http.ResponseWriter, r *http.Request) error {
	return a.toMessage(w, r, a.Relay.Delete)
}

func (a *API) resend(w http.ResponseWriter, r *http.Request) error {
	return a.toMessage(w, r, a.Relay.Resend)
}

func (a *API) toMessage(w http.ResponseWriter, r *http.Request, do func(context.Context, int64) error) error {
	id, err := mailqueue.ParseMessageID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return noContent(w, mailqueue.HideMissing(r.Context(), do(r.Context(), id)))
}

func (a *API) resendAll(w http.ResponseWriter, r *http.Request) error {
	return a.toQueues(w, r, a.Relay.ResendAll)
}

func (a *API) flush(w http.ResponseWriter, r *http.Request) error {
	return a.toQueues(w, r, a.Relay.Flush)
}

// deleteAll wants it said when it is to delete everything.
func (a *API) deleteAll(w http.ResponseWriter, r *http.Request) error {
	f, all, wrong, err := bodyFilter(r)
	if err != nil {
		return err
	}
	if f.IsEverything() && !all {
		wrong.Add("all", "Select the messages to delete, or set all: true for every message of every node.")
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	n, err := a.Relay.DeleteAll(r.Context(), f)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, countJSON{n})
}

func (a *API) toQueues(w http.ResponseWriter, r *http.Request, do func(context.Context, mailqueue.MessageFilter) (int64, error)) error {
	f, _, wrong, err := bodyFilter(r)
	if err := fault.Every(wrong.Err(), err); err != nil {
		return err
	}
	n, err := do(r.Context(), f)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, countJSON{n})
}

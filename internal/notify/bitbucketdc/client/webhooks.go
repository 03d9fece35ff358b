package client

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
)

type webhook struct {
	ID            int64             `json:"id,omitempty"`
	Name          string            `json:"name"`
	URL           string            `json:"url"`
	Active        bool              `json:"active"`
	Events        []string          `json:"events"`
	Configuration map[string]string `json:"configuration,omitempty"`
}

// Webhooks lists the webhooks of a project. It takes an account that
// administers the project.
func (cl *Client) Webhooks(ctx context.Context, c *notify.Connection, project string) ([]notify.Webhook, error) {
	var all []notify.Webhook
	err := list(ctx, cl, c, projectPath(project)+"/webhooks", nil, func(w webhook) bool {
		all = append(all, notify.Webhook{ID: w.ID, URL: w.URL, Active: w.Active, Events: w.Events})
		return false
	})
	return all, err
}

// webhookName is what the platform's administrators see of a webhook.
const webhookName = "Outrigger"

// newerEvents are keys that older versions do not know, in lots, the newest
// first: those of 8.8 and 8.11, then those of 5.10 to 7.0. One unknown key has
// the platform refuse the whole webhook.
var newerEvents = [][]string{
	{"project:modified", "repo:secret_detected"},
	{"mirror:repo_synchronized", "pr:from_ref_updated", "pr:modified", "pr:reviewer:updated"},
}

// firstEvents are those of 5.4.
var firstEvents = []string{
	"repo:refs_changed", "repo:modified", "repo:forked", "repo:comment:added", "repo:comment:edited", "repo:comment:deleted",
	"pr:opened", "pr:merged", "pr:declined", "pr:deleted", "pr:reviewer:approved", "pr:reviewer:unapproved", "pr:reviewer:needs_work",
	"pr:comment:added", "pr:comment:edited", "pr:comment:deleted",
}

// PutWebhook creates a project's webhook, or changes the one with w.ID, to send
// every event that the platform knows to the URL, signed with the secret, and
// gives it as it is then.
func (cl *Client) PutWebhook(ctx context.Context, c *notify.Connection, project string, w notify.Webhook) (notify.Webhook, error) {
	method, path := http.MethodPost, projectPath(project)+"/webhooks"
	if w.ID != 0 {
		method, path = http.MethodPut, path+"/"+strconv.FormatInt(w.ID, 10)
	}
	in := webhook{Name: webhookName, URL: w.URL, Active: true, Configuration: map[string]string{"secret": w.Secret.Reveal()}}
	for without := 0; ; without++ {
		in.Events = firstEvents
		for _, lot := range newerEvents[without:] {
			in.Events = append(in.Events[:len(in.Events):len(in.Events)], lot...)
		}
		var out webhook
		err := cl.call(ctx, c, method, path, nil, in, &out)
		if err != nil && unknownEvent(err) && without < len(newerEvents) {
			continue
		}
		return notify.Webhook{ID: out.ID, URL: out.URL, Active: out.Active, Events: out.Events}, err
	}
}

// unknownEvent reports whether the platform refuses a webhook for an event key:
// "the event … is unknown".
func unknownEvent(err error) bool {
	return restclient.StatusOf(err) == http.StatusBadRequest && strings.Contains(err.Error(), "is unknown")
}

// Health asks what came of a webhook's calls, as the platform counts them.
func (cl *Client) Health(ctx context.Context, c *notify.Connection, project string, id int64) (notify.WebhookHealth, error) {
	type call struct {
		Finish moment
		Result struct{ Description string }
	}
	var out struct {
		Counts                              struct{ Errors, Failures, Successes int64 }
		LastSuccess, LastFailure, LastError call
	}
	err := cl.get(ctx, c, projectPath(project)+"/webhooks/"+strconv.FormatInt(id, 10)+"/statistics", nil, &out)
	h := notify.WebhookHealth{
		Successes: out.Counts.Successes, Failures: out.Counts.Failures + out.Counts.Errors,
		LastSuccess: out.LastSuccess.Finish.Time, LastFailure: out.LastFailure.Finish.Time, Answer: out.LastFailure.Result.Description,
	}
	if at := out.LastError.Finish.Time; at.After(h.LastFailure) {
		h.LastFailure, h.Answer = at, out.LastError.Result.Description
	}
	return h, err
}

// moment is a time as the platform writes it: milliseconds, or from version 10
// perhaps ISO 8601. What is neither is zero.
type moment struct{ time.Time }

func (m *moment) UnmarshalJSON(b []byte) error {
	if ms, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		m.Time = time.UnixMilli(ms)
		return nil
	}
	text := strings.Trim(string(b), `"`)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999-0700"} {
		if at, err := time.Parse(layout, text); err == nil {
			m.Time = at
			return nil
		}
	}
	return nil
}

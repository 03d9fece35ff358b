package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/secret"
)

// Webhook is a webhook of a repository on its platform.
type Webhook struct {
	UUID      string // the platform's id
	URL       string
	Active    bool
	Events    []string // keys
	SecretSet bool     // it signs
	// Secret is to be set; the platform never tells. On an update, the zero value
	// leaves the one that is there.
	Secret secret.Value
}

// webhook is one as the API writes it.
type webhook struct {
	UUID        string   `json:"uuid,omitempty"`
	Description string   `json:"description"`
	URL         string   `json:"url"`
	Active      bool     `json:"active"`
	Events      []string `json:"events"`
	SecretSet   bool     `json:"secret_set,omitempty"`
	Secret      string   `json:"secret,omitempty"`
}

func (w *webhook) open() Webhook {
	return Webhook{UUID: w.UUID, URL: w.URL, Active: w.Active, Events: w.Events, SecretSet: w.SecretSet}
}

const (
	// webhookName is what the repository's administrators see of a webhook.
	webhookName = "Outrigger"
	// maxWebhooks is ten times as many as a repository may have.
	maxWebhooks = 500
)

// events are the keys that cards are made of, as far as webhooks of a repository
// have them.
var events = []string{
	"repo:push", "repo:fork", "repo:updated", "repo:commit_comment_created", "repo:commit_status_created", "repo:commit_status_updated",
	"repo:transfer", "repo:created", "repo:deleted", "repo:imported", "issue:created", "issue:updated", "issue:comment_created",
	"pullrequest:created", "pullrequest:updated", "pullrequest:push", "pullrequest:fulfilled", "pullrequest:rejected",
	"pullrequest:approved", "pullrequest:unapproved", "pullrequest:changes_request_created", "pullrequest:changes_request_removed",
	"pullrequest:comment_created", "pullrequest:comment_updated", "pullrequest:comment_deleted", "pullrequest:comment_resolved",
	"pullrequest:comment_reopened", "project:updated",
}

func webhookPath(at notify.RepositoryRef, uid string) string {
	path := repositoryPath(at) + "/hooks"
	if uid != "" {
		path += "/" + url.PathEscape(uid)
	}
	return path
}

// Webhooks lists the webhooks of a repository. It takes an account that
// administers it.
func (cl *Client) Webhooks(ctx context.Context, c *notify.Connection, token secret.Value, at notify.RepositoryRef) ([]Webhook, error) {
	var all []Webhook
	err := list(ctx, cl, c, token, webhookPath(at, ""), nil, func(w webhook) (enough bool, err error) {
		if w.UUID != "" {
			all = append(all, w.open())
		}
		return len(all) == maxWebhooks, nil
	})
	return all, unreadable(at, err)
}

// PutWebhook has the webhook of a repository with w.UUID, a new one where that is
// empty, send every event that the platform knows and cards are made of to w.URL,
// signed with w.Secret, and gives it as it is then.
func (cl *Client) PutWebhook(
	ctx context.Context, c *notify.Connection, token secret.Value, at notify.RepositoryRef, w Webhook,
) (Webhook, error) {
	method := http.MethodPut
	if w.UUID == "" {
		method = http.MethodPost
	}
	known, err := cl.knownEvents(ctx, c, token)
	if err != nil {
		return Webhook{}, err
	}
	in := webhook{Description: webhookName, URL: w.URL, Active: true, Events: known, Secret: w.Secret.Reveal()}
	var out webhook
	if err := cl.call(ctx, c, token, method, apiOf(c)+webhookPath(at, w.UUID), in, &out, w.Secret); err != nil {
		return Webhook{}, unreadable(at, err)
	}
	if out.UUID == "" {
		return Webhook{}, restclient.NotThePlatform(c.Name)
	}
	return out.open(), nil
}

// knownEvents are those of events that the platform knows: one unknown key has
// it refuse the whole webhook.
func (cl *Client) knownEvents(ctx context.Context, c *notify.Connection, token secret.Value) ([]string, error) {
	var known []string
	err := list(ctx, cl, c, token, "/hook_events/repository", nil, func(e struct{ Event string }) (enough bool, err error) {
		if slices.Contains(events, e.Event) && !slices.Contains(known, e.Event) {
			known = append(known, e.Event)
		}
		return len(known) == len(events), nil
	})
	if err == nil && len(known) == 0 {
		err = fault.New(fault.Unavailable, "The platform of %s offers none of the events that Outrigger needs; check the base URL.", c.Name)
	}
	return known, err
}

// DeleteWebhook deletes a webhook of a repository. One that is gone already is
// no error.
func (cl *Client) DeleteWebhook(ctx context.Context, c *notify.Connection, token secret.Value, at notify.RepositoryRef, uid string) error {
	err := cl.call(ctx, c, token, http.MethodDelete, apiOf(c)+webhookPath(at, uid), nil, nil)
	if restclient.StatusOf(err) == http.StatusNotFound {
		return nil
	}
	return unreadable(at, err)
}

package bitbucketcloud

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Webhook is a repository's webhook.
type Webhook struct {
	UUID            string
	Workspace, Slug string
	Description     string
	URL             string
	Active          bool
	Events          []string
	Secret          string
	Created         time.Time
}

// eventKeys are the keys that a repository's webhook may ask for.
var eventKeys = []string{
	"repo:push", "repo:fork", "repo:updated", "repo:commit_comment_created", "repo:commit_status_created", "repo:commit_status_updated",
	"repo:transfer", "repo:created", "repo:deleted", "repo:imported", "issue:created", "issue:updated", "issue:comment_created",
	"pullrequest:created", "pullrequest:updated", "pullrequest:push", "pullrequest:fulfilled", "pullrequest:rejected",
	"pullrequest:approved", "pullrequest:unapproved", "pullrequest:changes_request_created", "pullrequest:changes_request_removed",
	"pullrequest:comment_created", "pullrequest:comment_updated", "pullrequest:comment_deleted", "pullrequest:comment_resolved",
	"pullrequest:comment_reopened", "pipeline:span_created",
}

// EventKeys lists the keys that a repository's webhook may ask for.
func EventKeys() []string { return slices.Clone(eventKeys) }

// maxSecret is the longest secret of a webhook.
const maxSecret = 128

// Webhooks returns a repository's webhooks.
func (p *Platform) Webhooks(workspace, slug string) []Webhook {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Webhook
	for _, w := range p.webhooks {
		if w.of(workspace, slug) {
			list = append(list, *w)
		}
	}
	return list
}

func (w *Webhook) of(workspace, slug string) bool {
	return strings.EqualFold(w.Workspace, workspace) && strings.EqualFold(w.Slug, slug)
}

// SetWebhook adds a webhook, or takes the place of that with its UUID, as a
// person does in the repository's settings.
func (p *Platform) SetWebhook(w Webhook) (uid string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.UUID == "" {
		w.UUID = uuid()
	}
	p.webhooks = slices.DeleteFunc(p.webhooks, func(other *Webhook) bool { return other.UUID == w.UUID })
	p.webhooks = append(p.webhooks, &w)
	return w.UUID
}

// DeleteWebhooks deletes the webhooks of a repository, as a person does in its
// settings.
func (p *Platform) DeleteWebhooks(workspace, slug string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.webhooks = slices.DeleteFunc(p.webhooks, func(w *Webhook) bool { return w.of(workspace, slug) })
}

// hookEvents lists the keys for webhooks of repositories, to everybody.
func (p *Platform) hookEvents(w http.ResponseWriter, r *http.Request) {
	a := &asking{w: w, r: r}
	var values []any
	for _, key := range eventKeys {
		if !slices.Contains(p.o.UnknownEvents, key) {
			values = append(values, map[string]any{"event": key, "category": "Repository", "label": key, "description": ""})
		}
	}
	p.page(a, values)
}

// administered returns the repository of the path to who administers it.
func (p *Platform) administered(a *asking) *Repository {
	r := p.repositoryOf(a)
	if r == nil || r.Permissions[a.who.ID] == "admin" {
		return r
	}
	a.fail(http.StatusForbidden, "Access denied. You must have admin access.")
	return nil
}

func (p *Platform) listWebhooks(a *asking) {
	r := p.administered(a)
	if r == nil {
		return
	}
	var values []any
	for _, w := range p.webhooks {
		if w.of(r.Workspace, r.Slug) {
			values = append(values, w.out())
		}
	}
	p.page(a, values)
}

// out never has the secret.
func (w *Webhook) out() map[string]any {
	return map[string]any{
		"type": "webhook_subscription", "uuid": w.UUID, "description": w.Description, "url": w.URL, "active": w.Active,
		"events": w.Events, "subject_type": "repository", "secret_set": w.Secret != "", "created_at": iso(w.Created),
	}
}

func (p *Platform) createWebhook(a *asking) {
	r := p.administered(a)
	if r == nil {
		return
	}
	w := &Webhook{UUID: uuid(), Workspace: r.Workspace, Slug: r.Slug, Active: true, Created: p.o.Clock()}
	if p.readWebhook(a, w) {
		p.webhooks = append(p.webhooks, w)
		a.answer(http.StatusCreated, w.out())
	}
}

// readWebhook reads the body into w. What the body leaves out stays; a secret of
// null is none.
func (p *Platform) readWebhook(a *asking, w *Webhook) bool {
	before := w.Secret
	in := struct {
		Description, URL string
		Active           bool
		Events           []string
		Secret           *string
	}{w.Description, w.URL, w.Active, w.Events, &before}
	if json.NewDecoder(a.r.Body).Decode(&in) != nil {
		a.fail(http.StatusBadRequest, "Bad request")
		return false
	}
	wrong := map[string]any{}
	u, err := url.Parse(in.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		wrong["url"] = []string{"Enter a valid URL."}
	} else if !p.o.AllowInternal && internal(u.Hostname()) {
		wrong["url"] = []string{"The URL must be publicly accessible."}
	}
	if len(in.Events) == 0 || slices.ContainsFunc(in.Events, func(key string) bool {
		return !slices.Contains(eventKeys, key) || slices.Contains(p.o.UnknownEvents, key)
	}) {
		wrong["events"] = []string{"Select valid events."}
	}
	if in.Secret != nil && len(*in.Secret) > maxSecret {
		wrong["secret"] = []string{"Ensure this value has at most 128 characters."}
	}
	if len(wrong) > 0 {
		a.answer(http.StatusBadRequest, map[string]any{"type": "error", "error": map[string]any{"message": "Bad request", "fields": wrong}})
		return false
	}
	w.Description, w.URL, w.Active, w.Events, w.Secret = in.Description, in.URL, in.Active, in.Events, ""
	if in.Secret != nil {
		w.Secret = *in.Secret
	}
	return true
}

// internal reports whether a host is one that the vendor's cloud cannot reach, as
// far as its name says.
func internal(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return !ip.IsGlobalUnicast() || ip.IsPrivate()
	}
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal")
}

// webhookOf returns the webhook of the path; nil after it was answered that there
// is none.
func (p *Platform) webhookOf(a *asking) *Webhook {
	r := p.administered(a)
	if r == nil {
		return nil
	}
	for _, w := range p.webhooks {
		if w.UUID == a.r.PathValue("uid") && w.of(r.Workspace, r.Slug) {
			return w
		}
	}
	a.fail(http.StatusNotFound, "Webhook not found")
	return nil
}

func (p *Platform) updateWebhook(a *asking) {
	if w := p.webhookOf(a); w != nil && p.readWebhook(a, w) {
		a.answer(http.StatusOK, w.out())
	}
}

func (p *Platform) deleteWebhook(a *asking) {
	if w := p.webhookOf(a); w != nil {
		p.webhooks = slices.DeleteFunc(p.webhooks, func(other *Webhook) bool { return other == w })
		a.w.WriteHeader(http.StatusNoContent)
	}
}

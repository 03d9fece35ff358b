package bitbucket

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Webhook is a project's webhook.
type Webhook struct {
	ID      int64    `json:"id"`
	Project string   `json:"-"`
	Name    string   `json:"name"`
	URL     string   `json:"url"`
	Active  bool     `json:"active"`
	Events  []string `json:"events"`
	Secret  string   `json:"-"`

	// What came of its calls; the last of each is at its time.
	Successes, Failures, Errors         int       `json:"-"`
	LastSuccess, LastFailure, LastError time.Time `json:"-"`
	LastAnswer                          string    `json:"-"` // status of the last failure, or the error's words
}

// eventKeys are the keys that version 10.2.1 takes for a webhook.
var eventKeys = []string{
	"repo:refs_changed", "repo:modified", "repo:forked", "repo:comment:added", "repo:comment:edited", "repo:comment:deleted",
	"repo:secret_detected", "mirror:repo_synchronized", "project:modified", "pr:opened", "pr:from_ref_updated", "pr:modified",
	"pr:merged", "pr:declined", "pr:deleted", "pr:reviewer:updated", "pr:reviewer:approved", "pr:reviewer:unapproved",
	"pr:reviewer:needs_work", "pr:comment:added", "pr:comment:edited", "pr:comment:deleted",
}

// EventKeys lists them.
func EventKeys() []string { return slices.Clone(eventKeys) }

// Webhooks returns a project's webhooks.
func (p *Platform) Webhooks(project string) []Webhook {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Webhook
	for _, w := range p.webhooks {
		if strings.EqualFold(w.Project, project) {
			list = append(list, *w)
		}
	}
	return list
}

// PutWebhook adds a webhook, or takes the place of the one with its id, as an
// administrator of the platform would.
func (p *Platform) PutWebhook(w Webhook) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.webhooks {
		if p.webhooks[i].ID == w.ID {
			p.webhooks[i] = &w
			return w.ID
		}
	}
	p.lastID++
	w.ID = p.lastID
	p.webhooks = append(p.webhooks, &w)
	return w.ID
}

// DeleteWebhooks deletes the webhooks of a project, as an administrator of the
// platform would.
func (p *Platform) DeleteWebhooks(project string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.webhooks = slices.DeleteFunc(p.webhooks, func(w *Webhook) bool { return w.Project == project })
}

// administered returns the project of the path to who administers it.
func (p *Platform) administered(a *asking) *Project {
	project := p.projectOf(a)
	if project == nil || a.who == nil {
		return project
	}
	if allowed, _ := p.may(a.who, "PROJECT_ADMIN", project.Key, ""); !allowed {
		// 401 is what the vendor's pages promise for want of a permission too.
		a.fail(http.StatusUnauthorized, "AuthorisationException", "You are not permitted to access this resource")
		return nil
	}
	return project
}

func (p *Platform) listWebhooks(a *asking) {
	project := p.administered(a)
	if project == nil {
		return
	}
	var all []any
	for _, w := range p.webhooks {
		if w.Project == project.Key {
			all = append(all, webhookOut(w))
		}
	}
	page(p, a, all)
}

// webhookOut never has the secret.
func webhookOut(w *Webhook) map[string]any {
	return map[string]any{
		"id": w.ID, "name": w.Name, "url": w.URL, "active": w.Active, "events": w.Events,
		"configuration": map[string]any{}, "scopeType": "project", "sslVerificationRequired": true,
	}
}

func (p *Platform) createWebhook(a *asking) {
	project := p.administered(a)
	if project == nil {
		return
	}
	w := &Webhook{Project: project.Key, Active: true}
	if !p.readWebhook(a, w) {
		return
	}
	p.lastID++
	w.ID = p.lastID
	p.webhooks = append(p.webhooks, w)
	a.answer(http.StatusCreated, webhookOut(w))
}

// readWebhook reads the body into w; one unknown event refuses all of it.
func (p *Platform) readWebhook(a *asking, w *Webhook) bool {
	var in struct {
		Name, URL     string
		Active        *bool
		Events        []string
		Configuration struct{ Secret string }
	}
	if err := json.NewDecoder(a.r.Body).Decode(&in); err != nil || in.URL == "" || in.Name == "" {
		a.fail(http.StatusBadRequest, "validation.ArgumentValidationException", "The webhook has no name or URL.")
		return false
	}
	for _, event := range in.Events {
		if !slices.Contains(eventKeys, event) || slices.Contains(p.o.UnknownEvents, event) {
			// The placeholder is in the answer of real servers too.
			a.fail(http.StatusBadRequest, "validation.ArgumentValidationException", "the event ${validatedValue} is unknown")
			return false
		}
	}
	w.Name, w.URL, w.Events = in.Name, in.URL, in.Events
	if in.Active != nil {
		w.Active = *in.Active
	}
	if in.Configuration.Secret != "" {
		w.Secret = in.Configuration.Secret
	}
	return true
}

// webhookOf returns the webhook of the path; nil after it was answered that there
// is none.
func (p *Platform) webhookOf(a *asking) *Webhook {
	project := p.administered(a)
	if project == nil {
		return nil
	}
	id, _ := strconv.ParseInt(a.r.PathValue("id"), 10, 64)
	for _, w := range p.webhooks {
		if w.ID == id && w.Project == project.Key {
			return w
		}
	}
	a.fail(http.StatusNotFound, "webhook.NoSuchWebhookException", "The webhook does not exist.")
	return nil
}

func (p *Platform) updateWebhook(a *asking) {
	if w := p.webhookOf(a); w != nil && p.readWebhook(a, w) {
		a.answer(http.StatusOK, webhookOut(w))
	}
}

// webhookStatistics is what came of a webhook's calls.
func (p *Platform) webhookStatistics(a *asking) {
	w := p.webhookOf(a)
	if w == nil {
		return
	}
	out := map[string]any{"counts": map[string]any{"errors": w.Errors, "failures": w.Failures, "successes": w.Successes}}
	for name, last := range map[string]map[string]any{
		"lastSuccess": invocation(w.LastSuccess, "SUCCESS", "200"),
		"lastFailure": invocation(w.LastFailure, "FAILURE", w.LastAnswer),
		"lastError":   invocation(w.LastError, "ERROR", w.LastAnswer),
	} {
		if last != nil {
			out[name] = last
		}
	}
	a.answer(http.StatusOK, out)
}

func invocation(at time.Time, outcome, description string) map[string]any {
	if at.IsZero() {
		return nil
	}
	return map[string]any{
		"id": at.UnixMicro(), "event": "repo:refs_changed", "duration": 12, "start": at.UnixMilli(), "finish": at.UnixMilli() + 12,
		"result": map[string]any{"outcome": outcome, "description": description},
	}
}

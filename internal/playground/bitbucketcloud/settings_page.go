package bitbucketcloud

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"

	"outrigger/internal/playground/cloudsamples"
	"outrigger/internal/playground/respond"
)

// Page shows the platform's accounts, repositories and webhooks, withdraws what
// an account granted, and sends events. It is served below a path such as
// /bitbucket/ beside the chat platform's page, whose style it uses.
type Page struct {
	Platform *Platform
	Console  string // URL of Outrigger's own console, for the link
	// Withdrawn is called after an account withdrew what it granted; nil: not called.
	Withdrawn func(ctx context.Context, account string)

	sent atomic.Int64 // events so far
}

// Handler serves the page at /.
func (p *Page) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.show)
	mux.HandleFunc("POST /withdraw", p.withdraw)
	mux.HandleFunc("POST /events", p.send)
	return mux
}

type settings struct {
	Console, Said string
	Accounts      []accountSettings
	Repositories  []repositorySettings
	Samples       []cloudsamples.Sample
}

type accountSettings struct {
	Account
	Granted bool
}

type repositorySettings struct {
	Workspace, Slug string
	Admins          []string
	Open            int
	Webhooks        []Webhook
}

func (p *Page) show(w http.ResponseWriter, r *http.Request) {
	v := p.Platform.settings()
	v.Console, v.Said, v.Samples = p.Console, r.URL.Query().Get("said"), cloudsamples.Samples()
	render(w, "settings.html", v)
}

func (p *Platform) settings() (v settings) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.o.Accounts {
		granted := false
		for _, t := range p.refresh {
			granted = granted || t.account == a.ID
		}
		v.Accounts = append(v.Accounts, accountSettings{a, granted})
	}
	for _, r := range p.o.Repositories {
		shown := repositorySettings{Workspace: r.Workspace, Slug: r.Slug}
		for _, a := range p.o.Accounts {
			if r.Permissions[a.ID] == "admin" {
				shown.Admins = append(shown.Admins, a.DisplayName)
			}
		}
		for i := range r.PullRequests {
			if r.PullRequests[i].state() == "OPEN" {
				shown.Open++
			}
		}
		for _, w := range p.webhooks {
			if w.of(r.Workspace, r.Slug) {
				shown.Webhooks = append(shown.Webhooks, *w)
			}
		}
		v.Repositories = append(v.Repositories, shown)
	}
	return v
}

func (p *Page) withdraw(w http.ResponseWriter, r *http.Request) {
	account := r.FormValue("account")
	p.Platform.Withdraw(account)
	if p.Withdrawn != nil {
		p.Withdrawn(r.Context(), account)
	}
	respond.Back(w, "The grant is withdrawn: its tokens are of no use any more.")
}

// send sends a sample to the webhooks of a repository.
func (p *Page) send(w http.ResponseWriter, r *http.Request) {
	all := cloudsamples.Samples()
	i := slices.IndexFunc(all, func(s cloudsamples.Sample) bool { return s.Name == r.FormValue("event") })
	if i < 0 {
		respond.Back(w, "There is no such event.")
		return
	}
	s := all[i]
	at := cloudsamples.Place{Site: p.Platform.site(r), Workspace: r.FormValue("workspace"), Repository: r.FormValue("repository")}
	body := s.Render(at, p.sent.Add(1), p.Platform.o.Clock())
	sent := p.Platform.Send(r.Context(), at.Workspace, at.Repository, s.EventKey, body)
	said := fmt.Sprintf("No webhook of %s/%s asks for %s.", at.Workspace, at.Repository, s.EventKey)
	for i, one := range sent {
		if i == 0 {
			said = fmt.Sprintf("Sent %s.", s.Name)
		}
		said += fmt.Sprintf(" Answered %d.", one.Status)
	}
	respond.Back(w, said)
}

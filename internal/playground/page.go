package playground

import (
	"embed"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/playground/respond"
	"outrigger/internal/playground/samples"
)

//go:embed web
var web embed.FS

var render = respond.Pages(web)

// World is the outside world on one address: the chat platform with its page,
// and the code-hosting platform behind its buttons.
type World struct {
	Chat     *Chat
	Platform *Platform
	Console  string       // URL of Outrigger's own console, for the link
	Mail     http.Handler // the smarthost's page, at /mail/; nil: there is none
	// Cloud is the cloud site: its page at /cloud/, with the two files of a
	// migration to it, and its API; nil: there is none.
	Cloud *cloudsite.Page
	// SelfHosted is the REST API of the self-hosted code-hosting platform, at
	// /selfhosted/; nil: there is none.
	SelfHosted http.Handler
	// Code is the cloud edition of the code-hosting platform: its page at
	// /bitbucket/, its API at /2.0/ and its OAuth at /site/oauth2/; nil: there is
	// none.
	Code *bitbucketcloud.Page
	// CardStyle is the style sheet of cards, which the console's previews have too.
	CardStyle []byte
}

// Handler serves the world.
func (w *World) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /workflows/{channel}/triggers/manual/paths/invoke", w.Chat.Webhook)
	mux.HandleFunc("GET /{$}", func(rw http.ResponseWriter, r *http.Request) {
		v := w.view(r.Host)
		v.Said = r.URL.Query().Get("said")
		render(rw, "chat.html", v)
	})
	mux.HandleFunc("GET /cards", func(rw http.ResponseWriter, r *http.Request) { render(rw, "cards", w.view(r.Host)) })
	mux.HandleFunc("GET /card.css", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = rw.Write(w.CardStyle) // the reader has gone
	})
	mux.HandleFunc("GET /live", w.Chat.watchers.Live("cards"))
	mux.HandleFunc("POST /mode", func(rw http.ResponseWriter, r *http.Request) {
		w.Chat.SetFaultMode(FaultMode(r.FormValue("mode")))
		respond.Back(rw, "")
	})
	mux.HandleFunc("POST /events", w.sendEvents)
	mux.Handle("GET /web/{file}", http.FileServerFS(web))
	if w.Mail != nil {
		mux.Handle("/mail/", http.StripPrefix("/mail", w.Mail))
	}
	if w.SelfHosted != nil {
		mux.Handle("/selfhosted/", http.StripPrefix("/selfhosted", selfHostedPages(w.SelfHosted)))
	}
	if w.Cloud != nil {
		hierarchy, mappings := samples.Comments()
		w.Cloud.Files = []cloudsite.File{
			{Name: "comments_hierarchy_export.json", Type: "application/json", Content: hierarchy},
			{Name: "id-mappings.csv", Type: "text/csv; charset=utf-8", Content: mappings},
		}
		mux.Handle("/cloud/", http.StripPrefix("/cloud", w.Cloud.Handler()))
		mux.Handle("/rest/api/3/issue/", w.Cloud.Site.Handler())
	}
	if w.Code != nil {
		mux.Handle("/bitbucket/", http.StripPrefix("/bitbucket", w.Code.Handler()))
		mux.Handle("/2.0/", w.Code.Platform.Handler())
		mux.Handle("/site/oauth2/", w.Code.Platform.Handler())
	}
	return http.NewCrossOriginProtection().Handler(headers(mux))
}

func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; "+
			"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

type channelView struct {
	Name     string
	URL      string // its webhook URL
	Messages []Message
}

type view struct {
	Channels   []channelView
	FaultMode  FaultMode
	FaultModes []FaultMode
	Refused    int
	Console    string
	Mail       bool // there is a page of the smarthost's
	Cloud      bool // there is one of the cloud site's
	Code       bool // there is one of the cloud code platform's
	Said       string
	Own        string // the webhook URL of a channel that has no message yet
}

// ownChannel is a channel that has no message yet, for a rule or a new webhook URL.
func ownChannel(taken map[string][]Message) string {
	name := "my-team"
	for n := 2; len(taken[name]) > 0; n++ {
		name = "my-team-" + strconv.Itoa(n)
	}
	return name
}

// view is what the page shows to those who reach it at host.
func (w *World) view(host string) view {
	c := w.Chat
	c.mu.Lock()
	defer c.mu.Unlock()
	webhook := func(channel string) string { return "http://" + host + WebhookPath(channel) }
	v := view{Own: webhook(ownChannel(c.channels)), FaultMode: c.mode, FaultModes: faultModes(), Refused: c.refused, Console: w.Console,
		Mail: w.Mail != nil, Cloud: w.Cloud != nil, Code: w.Code != nil}
	for name, messages := range c.channels {
		list := slices.Clone(messages)
		slices.Reverse(list)
		v.Channels = append(v.Channels, channelView{Name: name, URL: webhook(name), Messages: list})
	}
	slices.SortFunc(v.Channels, func(a, b channelView) int { return strings.Compare(a.Name, b.Name) })
	return v
}

// maxEvents bounds how many events one press of a button sends.
const maxEvents = 100

func (w *World) sendEvents(rw http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("count"))
	if err != nil || n < 1 || n > maxEvents {
		n = 1
	}
	said := ""
	for range n {
		name, status, err := w.Platform.Next(r.Context())
		if err != nil {
			said = "The platform could not reach Outrigger."
			break
		}
		said = fmt.Sprintf("Sent %s: Outrigger answered %d.", name, status)
	}
	if n > 1 {
		said = fmt.Sprintf("%d events. %s", n, said)
	}
	respond.Back(rw, said)
}

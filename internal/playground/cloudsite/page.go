package cloudsite

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strconv"
	"sync"
	"time"

	"outrigger/internal/playground/live"
)

//go:embed web
var web embed.FS

// pages are parsed when the first one is shown: only the demo shows any.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(web, "web/*.html"))
})

// Page shows the threads of the site's issues and changes its mode. It is served
// below a path such as /cloud/ beside the chat platform's page, whose style it
// uses.
type Page struct {
	Site    *Site
	Console string // URL of Outrigger's own console, for the link
	Files   []File // to be had on the page
}

// File is one that the page gives away.
type File struct {
	Name    string
	Type    string // the media type
	Content []byte
}

// Handler serves the page at /, and what scripts read at /state: the mode and
// the Counts as JSON.
func (p *Page) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { p.render(w, "site.html") })
	mux.HandleFunc("GET /issues", func(w http.ResponseWriter, _ *http.Request) { p.render(w, "issues") })
	mux.HandleFunc("GET /state", p.state)
	mux.HandleFunc("GET /live", p.live)
	mux.HandleFunc("POST /mode", func(w http.ResponseWriter, r *http.Request) {
		requests, err := strconv.Atoi(r.FormValue("requests"))
		if err != nil {
			requests = 0
		}
		p.Site.SetFaultMode(FaultMode(r.FormValue("mode")), requests)
		w.Header().Set("Location", "./")
		w.WriteHeader(http.StatusSeeOther)
	})
	mux.Handle("GET /web/{file}", http.FileServerFS(web))
	for _, f := range p.Files {
		mux.HandleFunc("GET /files/"+f.Name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", f.Type)
			w.Header().Set("Content-Disposition", "attachment; filename="+f.Name)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.Content))
		})
	}
	return mux
}

// maxIssues is how many issues the page shows: those that were written last.
const maxIssues = 30

type view struct {
	Page
	FaultMode  FaultMode
	Left       int
	FaultModes []FaultMode
	Counts     Counts
	Total      int
	Issues     []shown
}

// shown is an issue as the page has it.
type shown struct {
	ID      int64
	Replies int
	Threads []Comment
	More    int
	Keys    []string
	Problem string
}

func (p *Page) render(w http.ResponseWriter, name string) {
	ids := p.Site.Issues()
	v := view{Page: *p, FaultModes: FaultModes(), Counts: p.Site.Counts(), Total: len(ids)}
	v.FaultMode, v.Left = p.Site.FaultMode()
	for _, id := range ids[:min(len(ids), maxIssues)] {
		i := shown{ID: id, Keys: p.Site.Keys(id)}
		parents, err := p.Site.Parents(id)
		if err != nil {
			i.Problem = err.Error()
		}
		i.Replies = len(parents)
		i.Threads, i.More = tree(parents)
		v.Issues = append(v.Issues, i)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = pages().ExecuteTemplate(w, name, v) // the reader has gone
}

func (p *Page) state(w http.ResponseWriter, _ *http.Request) {
	mode, left := p.Site.FaultMode()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(struct { // the reader has gone
		FaultMode FaultMode `json:"mode"`
		Left      int       `json:"left"`
		Issues    int       `json:"issues"`
		Counts
	}{mode, left, len(p.Site.Issues()), p.Site.Counts()})
}

func (p *Page) live(w http.ResponseWriter, r *http.Request) { live.Serve(w, r, "issues", p.Site.Watch) }

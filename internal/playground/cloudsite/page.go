package cloudsite

import (
	"bytes"
	"embed"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/playground/respond"
)

//go:embed web
var web embed.FS

var render = respond.Pages(web)

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

// Handler serves the page at /.
func (p *Page) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { render(w, "site.html", p.view()) })
	mux.HandleFunc("GET /issues", func(w http.ResponseWriter, _ *http.Request) { render(w, "issues", p.view()) })
	mux.HandleFunc("GET /live", p.Site.watchers.Live("issues"))
	mux.HandleFunc("POST /mode", func(w http.ResponseWriter, r *http.Request) {
		requests, err := strconv.Atoi(r.FormValue("requests"))
		if err != nil {
			requests = 0
		}
		p.Site.SetFaultMode(FaultMode(r.FormValue("mode")), requests)
		respond.Back(w, "")
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

func (p *Page) view() view {
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
	return v
}

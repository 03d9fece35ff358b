// Package respond has what the played servers answer alike: JSON, pages, and
// events by which pages fetch what is new as it comes.
package respond

import (
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// JSON answers a value.
func JSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // who asked has gone
}

// Pages answers the templates web/*.html of files by their names. They are parsed
// when the first one is shown: only the demo shows any.
func Pages(files fs.FS) func(w http.ResponseWriter, name string, view any) {
	pages := sync.OnceValue(func() *template.Template {
		return template.Must(template.New("").Funcs(template.FuncMap{
			"clock": func(t time.Time) string { return t.Format("15:04:05 MST") },
		}).ParseFS(files, "web/*.html"))
	})
	return func(w http.ResponseWriter, name string, view any) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		_ = pages().ExecuteTemplate(w, name, view) // the reader has gone
	}
}

// Back leads from a form to its page again, which says what came of it, if that
// is anything. The address is relative: a page does not know where it is mounted.
func Back(w http.ResponseWriter, said string) {
	to := "./"
	if said != "" {
		to += "?said=" + url.QueryEscape(said)
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

// Watchers are told when something changed. The zero value has none.
type Watchers struct {
	mu   sync.Mutex
	next chan struct{} // closed at the next change; nil: nobody waits for it
}

// Changed tells everybody who watches.
func (w *Watchers) Changed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next != nil {
		close(w.next)
		w.next = nil
	}
}

// Change returns a channel that is closed at the next change.
func (w *Watchers) Change() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next == nil {
		w.next = make(chan struct{})
	}
	return w.next
}

// Live says by server-sent events of a name that there is something new to
// fetch, until the reader goes: at once, since something may have come after
// the page was made, and then whenever something changed.
func (w *Watchers) Live(event string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		rw.Header().Set("Cache-Control", "no-store")
		flush := http.NewResponseController(rw)
		for {
			change := w.Change()
			fmt.Fprintf(rw, "event: %s\ndata: new\n\n", event)
			if flush.Flush() != nil {
				return
			}
			select {
			case <-r.Context().Done():
				return
			case <-change:
			}
		}
	}
}

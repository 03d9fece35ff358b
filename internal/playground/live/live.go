// Package live has pages of the playground fetch what is new as it comes.
package live

import (
	"fmt"
	"net/http"
)

// Serve says by server-sent events of a name that there is something new to
// fetch, until the reader goes. watch gives a channel that has something when
// there is, and what ends it.
func Serve(w http.ResponseWriter, r *http.Request, event string, watch func() (<-chan struct{}, func())) {
	changed, stop := watch()
	defer stop()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	flush := http.NewResponseController(w)
	fmt.Fprint(w, ": listening\n\n")
	for flush.Flush() == nil {
		select {
		case <-r.Context().Done():
			return
		case <-changed:
			fmt.Fprintf(w, "event: %s\ndata: new\n\n", event)
		}
	}
}

// Package live has pages of the playground fetch what is new as it comes.
package live

import (
	"fmt"
	"net/http"
)

// Serve says by server-sent events of a name that there is something new to
// fetch, until the reader goes: at once, since something may have come after
// the page was made, and then whenever the channel that watch returns has
// something. It calls watch's second result at the end.
func Serve(w http.ResponseWriter, r *http.Request, event string, watch func() (<-chan struct{}, func())) {
	changed, stop := watch()
	defer stop()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	flush := http.NewResponseController(w)
	for {
		fmt.Fprintf(w, "event: %s\ndata: new\n\n", event)
		if flush.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		}
	}
}

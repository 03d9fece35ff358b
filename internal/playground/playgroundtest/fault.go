// Package playgroundtest makes the played servers fail, for tests: what stands before
// a server counts what it is asked, and answers in its place where a fault is set.
package playgroundtest

import (
	"io"
	"net/http"
	"strings"
	"time"

	"outrigger/internal/work"
)

// Kind of a fault.
type Kind string

const (
	Endless     Kind = "endless"     // lists never say that they end
	Inventing   Kind = "inventing"   // every page has further values, and none is the last
	Repeating   Kind = "repeating"   // every page is the first
	Standing    Kind = "standing"    // the next page is always the present one
	Ragged      Kind = "ragged"      // there is a next page, without saying where it begins
	Elsewhere   Kind = "elsewhere"   // the next page is on another host
	Overlapping Kind = "overlapping" // every page begins with the last value of the one before
	Nulling     Kind = "nulling"     // what is in a list has an id, if that, and else nothing but null
	Refusing    Kind = "refusing"    // 401
	Forbidding  Kind = "forbidding"  // 403
	Withholding Kind = "withholding" // 401 for want of a permission, or 403 for want of a scope
	Throttling  Kind = "throttling"  // 429 with Retry-After
	Broken      Kind = "broken"      // 500
	Missing     Kind = "missing"     // 404
	Proxied     Kind = "proxied"     // 200 with the HTML of something in between
	Garbling    Kind = "garbling"    // 200 with JSON that is cut off
	Chattering  Kind = "chattering"  // 200 with JSON that does not end
	Redirecting Kind = "redirecting" // 302 to a page for signing in
	Silent      Kind = "silent"      // no answer until the client gives up
	Dropping    Kind = "dropping"    // the connection is closed
)

// Fault is how requests are answered out of the ordinary.
type Fault struct {
	Kind       Kind
	RetryAfter string        // of a Throttling one; "": none
	Delay      time.Duration // before the answer, whatever it is
}

// happen answers in the server's place; false where it answers itself. refuse
// words the statuses, as the server does.
func (f Fault) happen(w http.ResponseWriter, r *http.Request, refuse func(http.ResponseWriter, *http.Request, Kind)) bool {
	if work.Sleep(r.Context(), f.Delay) != nil {
		return true
	}
	switch f.Kind {
	case Throttling:
		if f.RetryAfter != "" {
			w.Header().Set("Retry-After", f.RetryAfter)
		}
		refuse(w, r, f.Kind)
	case Refusing, Forbidding, Withholding, Broken, Missing:
		refuse(w, r, f.Kind)
	case Proxied:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>Please sign in to the network.</body></html>")
	case Garbling:
		_, _ = io.WriteString(w, `{"size":1,"values":[{"name":"an`)
	case Chattering:
		chatter(w, r)
	case Redirecting:
		w.Header().Set("Location", "/login?next="+r.URL.Path)
		w.WriteHeader(http.StatusFound)
	case Silent:
		_, _ = io.Copy(io.Discard, r.Body) // so that the server notices when the client goes
		<-r.Context().Done()
	case Dropping:
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}

// chatterMost is how much a Chattering answer has at most: far more than any
// client may hold of one.
const chatterMost = 64 << 20

func chatter(w http.ResponseWriter, r *http.Request) {
	line := []byte(`{"name":"` + strings.Repeat("x", 32<<10) + `"},`)
	_, _ = io.WriteString(w, `{"values":[`)
	for sent := 0; sent < chatterMost && r.Context().Err() == nil; sent += len(line) {
		if _, err := w.Write(line); err != nil {
			return
		}
	}
}

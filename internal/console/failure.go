package console

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// titles are those of the pages of errors.
var titles = map[fault.Code]string{
	fault.Invalid: "Bad request", fault.Unauthenticated: "Sign in required", fault.Forbidden: "Access denied", fault.NotFound: "Not found",
	fault.Conflict: "Conflict", fault.TooLarge: "Too large", fault.RateLimited: "Too many requests",
	fault.Unavailable: "Temporarily unavailable", fault.Internal: "Internal error",
}

// statusView is the page of an error.
type statusView struct {
	Title, Text string
	Fields      []fieldProblem
	Referral    string // of an internal error
	Retry       Link   // the page to open again, where trying again may help
}

// fail answers an error with its status page: the one place that does.
func (x *exchange) fail(err error) { x.failWith(nil, err) }

// failWith answers an error, as the refused form where the answer is one.
func (x *exchange) failWith(answer Response, err error) {
	f := fault.As(err)
	x.retryAfter(f)
	if errors.Is(err, identity.ErrUnconfirmed) && x.principal != nil {
		x.confirmFirst()
		return
	}
	if page, ok := answer.(Page); ok {
		if form, ok := page.refused(f); ok {
			form.Refuse(f)
			page.Status = rest.StatusOf(f.Code)
			if err := x.page(page, f); err != nil {
				x.fail(err)
			}
			return
		}
	}
	if f.Code == fault.Unauthenticated && x.principal == nil {
		x.signInFirst()
		return
	}
	if rest.Gone(x.r, err) {
		// A server that stops cancels requests whose clients still listen.
		f = fault.New(fault.Unavailable, "The request was interrupted. Try again.")
	}
	v := statusView{Title: titles[f.Code], Text: f.Message}
	if f.Code == fault.Unavailable || f.Code == fault.RateLimited {
		v.Retry = x.retry()
	}
	for _, field := range f.Fields {
		if field.Message == f.Message {
			continue // the page says it above
		}
		v.Fields = append(v.Fields, fieldProblem{Message: field.Message})
	}
	if f.Code == fault.Internal {
		v.Referral = x.refer(err)
		v.Text = fmt.Sprintf("An internal error occurred. Quote referral number %s to your administrator.", v.Referral)
	}
	x.status(rest.StatusOf(f.Code), v)
}

// retry leads to the page that was asked for or, after a write, to that of its form.
func (x *exchange) retry() Link {
	switch back := x.returnPath(); {
	case x.r.Method == http.MethodGet:
		return Link{"Try again", back}
	case back != "/":
		return Link{"Back to the form", back}
	}
	return Link{}
}

// refer logs an internal error and answers the number that finds it. Of one
// that only went away there is none.
func (x *exchange) refer(err error) string {
	if rest.Gone(x.r, err) {
		return "none"
	}
	var number [6]byte
	_, _ = rand.Read(number[:]) // never fails
	referral := hex.EncodeToString(number[:])
	x.c.opts.Log.ErrorContext(x.r.Context(), "internal error", "referral", referral, "method", x.r.Method, "path", x.path, "error", err)
	return referral
}

func (x *exchange) retryAfter(f *fault.Error) {
	if f.RetryAfter > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
}

// status answers a status page, or bare text when even that cannot be shown.
func (x *exchange) status(status int, v statusView) {
	if err := x.page(Page{Template: statusPage, Title: v.Title, Status: status, Data: v}, nil); err != nil {
		x.c.opts.Log.ErrorContext(x.r.Context(), "rendering the status page failed", "error", err)
		http.Error(x.w, v.Text, status)
	}
}

// signInFirst redirects to the sign-in page, which leads back here.
func (x *exchange) signInFirst() {
	http.Redirect(x.w, x.r, x.c.base+signInPath(x.returnPath()), http.StatusSeeOther)
}

// returnPath is where to come back to: the page that was asked for, or, after
// a write, the page of its form.
func (x *exchange) returnPath() string {
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		if q := x.r.URL.RawQuery; q != "" {
			return x.path + "?" + q
		}
		return x.path
	}
	get := x.r.Clone(x.r.Context())
	get.Method = http.MethodGet
	if _, pattern := x.c.mux.Handler(get); pattern != "" {
		return x.path
	}
	return "/"
}

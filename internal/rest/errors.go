package rest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/fault"
)

// httpError is a failure that only HTTP knows.
type httpError struct {
	status  int // 404, 405, 406, 408, 412, 415 or 421
	message string
}

func (e *httpError) Error() string { return e.message }

// ErrTimeout is the answer (408) for a request whose body was not there in time.
func ErrTimeout(message string) error { return &httpError{http.StatusRequestTimeout, message} }

// errorBody is the body of every error.
type errorBody struct {
	XMLName xml.Name     `json:"-" xml:"status"`
	Status  int          `json:"status-code" xml:"status-code"`
	Message string       `json:"message" xml:"message"`
	Errors  []errorField `json:"errors,omitempty" xml:"error"`
}

type errorField struct {
	Field   string `json:"field" xml:"field"`
	Message string `json:"message" xml:"message"`
}

// WriteError answers with an error in the format that the request asks for, or in JSON if
// that is none of ours. An error that is no fault.Error is internal: its cause goes to the
// router's log under a referral number, and the number into the answer. An answer that was
// already begun is cut off.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	x := exchangeOf(r.Context())
	if x != nil && x.status != 0 {
		x.router.cutOff(r, err)
	}
	body := describe(r, x, err)
	h := w.Header()
	switch body.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Basic realm="Outrigger"`)
	case http.StatusRequestEntityTooLarge, http.StatusRequestTimeout:
		h.Set("Connection", "close") // the rest of the body is not read
	}
	if after := fault.As(err).RetryAfter; after > 0 {
		h.Set("Retry-After", strconv.Itoa(wholeSeconds(after)))
	}
	// What a handler set for the answer that does not come.
	h.Del("Content-Disposition")
	h.Del("Content-Encoding")
	h.Del("Location")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept")
	// The body is made of text and numbers: it always encodes.
	_ = write(w, errorFormat(r, x), body.Status, body)
}

// Gone reports whether a request failed because it was broken off, by its client
// or by a stop of ours, and has the log and the metrics say so: nothing failed
// here.
func Gone(r *http.Request, err error) bool {
	if r.Context().Err() == nil || !errors.Is(err, context.Canceled) {
		return false
	}
	if x := exchangeOf(r.Context()); x != nil {
		x.gone = true
	}
	return true
}

func bodyOf(e *fault.Error) *errorBody {
	body := &errorBody{Status: StatusOf(e.Code), Message: e.Message}
	for _, f := range e.Fields {
		body.Errors = append(body.Errors, errorField{f.Name, f.Message})
	}
	return body
}

// describe returns the body of an error, and logs what must not be in it.
func describe(r *http.Request, x *exchange, err error) *errorBody {
	var (
		own     *httpError
		tooLong *http.MaxBytesError
	)
	switch {
	case errors.As(err, &own):
		return &errorBody{Status: own.status, Message: own.message}
	case errors.As(err, &tooLong):
		err = errTooLarge(tooLong.Limit)
	case Gone(r, err):
		// The client is mostly gone. It must not be a success, though: a server
		// that stops cancels requests whose clients still listen.
		return &errorBody{Status: http.StatusServiceUnavailable, Message: "The request was broken off; send it again."}
	}
	body := bodyOf(fault.As(err))
	switch body.Status {
	case http.StatusInternalServerError:
		referral := randomHex()
		body.Message = fmt.Sprintf("An internal error occurred. Quote referral number %s to your administrator.", referral)
		if x != nil {
			x.router.logInternal(r, err, referral)
		}
	case http.StatusServiceUnavailable:
		if x != nil {
			x.router.log.LogAttrs(r.Context(), slog.LevelWarn, "unavailable", slog.String("error", err.Error()))
		}
	}
	return body
}

var statuses = map[fault.Code]int{
	fault.Invalid: http.StatusBadRequest, fault.Unauthenticated: http.StatusUnauthorized, fault.Forbidden: http.StatusForbidden,
	fault.NotFound: http.StatusNotFound, fault.Conflict: http.StatusConflict, fault.TooLarge: http.StatusRequestEntityTooLarge,
	fault.RateLimited: http.StatusTooManyRequests, fault.Unavailable: http.StatusServiceUnavailable,
}

// StatusOf returns the HTTP status of a code.
func StatusOf(c fault.Code) int { return cmp.Or(statuses[c], http.StatusInternalServerError) }

// errorFormat returns the format of an error: by the suffix of the path, else by Accept,
// else JSON.
func errorFormat(r *http.Request, x *exchange) format {
	if x != nil && x.endpoint != nil {
		if x.endpoint.suffixed {
			return x.endpoint.suffix
		}
	} else if _, f, ok := suffixFormat(r.URL.Path); ok {
		return f
	}
	f, _ := negotiate(r.Header, jsonOrXML)
	return f
}

func errTooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "The body is larger than %s.", sizeText(limit))
}

// sizeText writes a number of bytes as people say it.
func sizeText(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size && n%unit.size == 0 {
			return fmt.Sprintf("%d %s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

func errNotFound(r *http.Request) error {
	return &httpError{http.StatusNotFound, "There is nothing at " + r.URL.Path + "."}
}

func errMethod(method string, allowed []string) error {
	return &httpError{http.StatusMethodNotAllowed, fmt.Sprintf("%s is not allowed here; use %s.", method, strings.Join(allowed, ", "))}
}

func errNotAcceptable(offered []format) error {
	names := make([]string, len(offered))
	for i, f := range offered {
		names[i] = f.mediaType()
	}
	return &httpError{http.StatusNotAcceptable, "The answer comes as " + strings.Join(names, " or ") + "; accept that."}
}

// wholeSeconds rounds up, for Retry-After.
func wholeSeconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// randomHex returns a number that is not used twice, short enough to be read out.
func randomHex() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

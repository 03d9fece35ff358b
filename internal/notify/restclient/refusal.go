package restclient

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/phrase"
	"outrigger/internal/work"
)

const (
	// throttledPause follows a 429 that does not say how long: the self-hosted
	// platform refills its buckets every second, the cloud one counts over an
	// hour that goes on by the minute.
	throttledPause = time.Minute
	// maxWords is how many characters of a platform's error are shown: as much as
	// people read.
	maxWords = 300
)

// Refusal is the cause of the error that an answer other than a success is.
type Refusal struct {
	Status int
	Words  string // what the platform says, for people
	Name   string // the platform's own name of the error
	Advice string // a sentence that says what to do; "" if nothing is known
	// Sentence says what the platform answered: "The platform of main answers 404
	// Not Found, There is no such repository."
	Sentence string
	// Pause is how long the account is not to ask again, where more than the
	// status and the headers say it.
	Pause time.Duration
}

func (r *Refusal) Error() string { return fmt.Sprintf("status %d", r.Status) }

// RefusalOf returns the refusal in err's chain, or nil.
func RefusalOf(err error) *Refusal {
	r, _ := errors.AsType[*Refusal](err)
	return r
}

// StatusOf returns the status of the answer that err is about, 0 if there was none.
func StatusOf(err error) int {
	if r := RefusalOf(err); r != nil {
		return r.Status
	}
	return 0
}

func (cl *Client) refusal(q Request, req *http.Request, resp *http.Response, body []byte) error {
	r := &Refusal{Status: resp.StatusCode}
	q.Explain(r, body)
	r.Words = tidy(r.Words, q.hidden(req))
	if r.Advice == "" && r.Status < 400 {
		r.Advice = "Check the base URL."
	}
	status := strings.TrimSpace(fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status)))
	r.Sentence = fmt.Sprintf("The platform of %s answers %s", q.Platform, status)
	if r.Words != "" {
		r.Sentence += ", " + strings.TrimSuffix(r.Words, ".")
	}
	r.Sentence += "."
	err := fault.Wrap(r, fault.Unavailable, "%s", strings.TrimSpace(r.Sentence+" "+r.Advice))
	wait, given := work.RetryAfter(resp.Header, cl.now())
	switch {
	case r.Pause > 0:
		err.RetryAfter = r.Pause
	case given && (r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable):
		err.RetryAfter = wait
	case r.Status == http.StatusTooManyRequests:
		err.RetryAfter = throttledPause
	}
	return err
}

// hidden lists what is to be hidden in each of its spellings: Hidden as it is, in a form
// and in an address, and the credentials of the request, which may be encoded.
func (q *Request) hidden(req *http.Request) []string {
	_, credentials, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	spellings := []string{credentials}
	for _, h := range q.Hidden {
		spellings = append(spellings, url.QueryEscape(h.Reveal()), url.PathEscape(h.Reveal()), h.Reveal())
	}
	return spellings
}

// tidy makes one short line of a platform's words, with nothing in it that is
// to be hidden.
func tidy(words string, hidden []string) string {
	for _, h := range hidden {
		if h != "" {
			words = strings.ReplaceAll(words, h, "••••")
		}
	}
	return notify.Ellipsis(strings.TrimSpace(phrase.Line(words)), maxWords)
}

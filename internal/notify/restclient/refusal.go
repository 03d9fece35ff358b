package restclient

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"outrigger/internal/fault"
	"outrigger/internal/work"
)

const (
	// throttledPause follows a 429 that does not say how long: the self-hosted
	// platform refills its buckets every second, the cloud one counts over an
	// hour that goes on by the minute.
	throttledPause = time.Minute
	// maxWords is as much of an error of the platform as people read.
	maxWords = 300
)

// Refusal is the cause of an error for an answer that is no success.
type Refusal struct {
	Status int
	Words  string // the platform's, for people
	Name   string // the platform's own name of the error
	Advice string // a sentence that says what to do; "": nothing is known
	// Sentence says what the platform answered: "The platform of main answers 404
	// Not Found, There is no such repository."
	Sentence string
	// Pause is how long the account is not to ask again, where more than the
	// status and the headers say it.
	Pause time.Duration
}

func (r *Refusal) Error() string { return fmt.Sprintf("status %d", r.Status) }

// RefusalOf returns the answer that err is about; nil where there was none.
func RefusalOf(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}

// StatusOf is the status of the answer that err is about, 0 where there was
// none.
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
	r.Sentence = fmt.Sprintf("The platform of %s answers %s", q.Platform, strings.TrimSpace(fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status))))
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

// hidden are the spellings of what is to be hidden: Hidden as it is, in a form and
// in an address, and the credentials of the request, which may be encoded.
func (q *Request) hidden(req *http.Request) (spellings []string) {
	_, credentials, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	spellings = append(spellings, credentials)
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
	text := []rune(strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, words)))
	if len(text) > maxWords {
		text = append(text[:maxWords-1], '…')
	}
	return string(text)
}

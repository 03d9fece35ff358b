package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

const (
	// lockPause follows wrong credentials: the platform locks an account behind a captcha
	// after some wrong passwords, so that asking again does harm.
	lockPause = 10 * time.Minute
	// throttledPause follows a 429 that does not say how long: the platform
	// refills its buckets every second, and a minute does no harm.
	throttledPause = time.Minute
	// maxWords is as much of an error of the platform as people read.
	maxWords = 300
)

// refused is the cause of an error for an answer that is no success.
type refused struct {
	status    int
	words     string
	exception string // the platform's name of the error
}

func (r *refused) Error() string { return fmt.Sprintf("status %d", r.status) }

// says is the answer as a sentence.
func (r *refused) says(c *notify.Connection) string {
	answer := strings.TrimSpace(fmt.Sprintf("%d %s", r.status, http.StatusText(r.status)))
	if r.words != "" {
		answer += ", " + strings.TrimSuffix(r.words, ".")
	}
	return fmt.Sprintf("The platform of %s answers %s.", c.Name, answer)
}

// statusOf is the status of the answer that err is about, 0 where there was
// none.
func statusOf(err error) int {
	var r *refused
	if errors.As(err, &r) {
		return r.status
	}
	return 0
}

// Refused tells whether err is the platform's answer to this one request, such
// as that the account may not see a project: others may well be answered.
func Refused(err error) bool {
	var r *refused
	if !errors.As(err, &r) {
		return false
	}
	switch r.status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict:
		return true
	}
	return r.unpermitted()
}

// unpermitted tells whether the account lacks a permission: 403, or 401, which
// the platform answers for that as for wrong credentials.
func (r *refused) unpermitted() bool {
	return r.status == http.StatusForbidden || r.status == http.StatusUnauthorized && strings.HasSuffix(r.exception, "AuthorisationException")
}

// refusal is the error of an answer that is no success.
func (cl *Client) refusal(c *notify.Connection, resp *http.Response, body []byte) error {
	r := newRefused(resp.StatusCode, body)
	advice := ""
	switch {
	case r.unpermitted():
		advice = " Give the connection's account the permission on the platform."
	case r.status == http.StatusUnauthorized:
		advice = " Check the user and the token."
	case r.status < 400:
		advice = " Check the base URL."
	}
	err := fault.Wrap(r, fault.Unavailable, "%s%s", r.says(c), advice)
	wait, given := work.RetryAfter(resp.Header, cl.now())
	switch {
	case r.unpermitted():
	case r.status == http.StatusUnauthorized:
		err.RetryAfter = lockPause
	case given && (r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable):
		err.RetryAfter = wait
	case r.status == http.StatusTooManyRequests:
		err.RetryAfter = throttledPause
	}
	return err
}

// newRefused reads what the platform says in the body of an error, which may be
// of something else in between.
func newRefused(status int, body []byte) *refused {
	r := &refused{status: status}
	var says struct {
		Errors []struct{ Message, ExceptionName string }
	}
	if json.Unmarshal(body, &says) != nil {
		return r
	}
	var all []string
	for _, e := range says.Errors {
		if r.exception == "" {
			r.exception = e.ExceptionName
		}
		if e.Message != "" {
			all = append(all, e.Message)
		}
	}
	text := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.Join(all, " ")))
	if len(text) > maxWords {
		text = append(text[:maxWords-1], '…')
	}
	r.words = string(text)
	return r
}

// pause is a time in which a platform is not asked: why, and with which
// credentials it was.
type pause struct {
	until time.Time
	why   string
	as    string
}

// account is who a connection asks as, and where; another one is not under the
// pause of the one before.
func account(c *notify.Connection) string {
	return string(secret.Fingerprint(c.BaseURL + "\n" + c.User + "\n" + c.Token.Reveal()))
}

// paused is nil where the platform may be asked.
func (cl *Client) paused(c *notify.Connection) error {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	p, now := cl.pauses[c.Name], cl.now()
	if p.as != account(c) || !now.Before(p.until) {
		return nil
	}
	err := fault.New(fault.Unavailable, "%s It is asked again in %s.", p.why, p.until.Sub(now).Round(time.Second))
	err.RetryAfter = p.until.Sub(now)
	return err
}

// note begins a pause where err asks for one.
func (cl *Client) note(c *notify.Connection, err error) {
	f := fault.As(err)
	if f == nil || f.RetryAfter == 0 {
		return
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.pauses[c.Name] = pause{until: cl.now().Add(f.RetryAfter), why: f.Message, as: account(c)}
}

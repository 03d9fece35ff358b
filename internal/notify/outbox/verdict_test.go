package outbox

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"outrigger/internal/egress"
)

// TestJudge is the table of answers of the design, for every status there is.
func TestJudge(t *testing.T) {
	want := func(status int) verdict {
		switch {
		case status >= 200 && status <= 299:
			return done
		case status == 407, status == 408, status == 425, status == 429, status >= 500, status < 200:
			return wait
		case status >= 300 && status <= 399, status == 401, status == 403, status == 404, status == 405, status == 410:
			return broken
		}
		return reject
	}
	for status := 100; status <= 599; status++ {
		got := judge(&http.Response{StatusCode: status, Header: http.Header{}}, "", true, nil, time.Now())
		if got.verdict != want(status) {
			t.Errorf("%d: %v, want %v", status, verdictNames[got.verdict], verdictNames[want(status)])
		}
		if (got.reason == "") != (got.verdict == done) {
			t.Errorf("%d: reason %q", status, got.reason)
		}
	}
}

func TestJudgeAnswersAndErrors(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	cases := []struct {
		name   string
		status int
		header http.Header
		answer string
		err    error
		want   verdict
		retry  time.Duration
	}{
		{"an old connector's 200 with an error text is taken", 200, nil, "Summary or Text is required.", nil, done, 0},
		{"the workflow is off", 400, nil, `{"error":{"code":"WorkflowTriggerIsNotEnabled"}}`, nil, broken, 0},
		{"the query was lost", 400, nil, `{"error":{"code":"MissingApiVersionParameter"}}`, nil, broken, 0},
		{"a schema that one message misses", 400, nil, `{"error":{"code":"TriggerInputSchemaMismatch"}}`, nil, reject, 0},
		{"too large", 413, nil, "", nil, reject, 0},
		{"throttled without a time", 429, header(), "", nil, wait, 0},
		{"throttled, seconds", 429, header("Retry-After", "17"), "", nil, wait, 17 * time.Second},
		{"throttled, a fraction", 429, header("Retry-After", "0.5"), "", nil, wait, 500 * time.Millisecond},
		{"throttled, zero counts as a second", 429, header("Retry-After", "0"), "", nil, wait, time.Second},
		{"throttled, a date", 429, header("Retry-After", now.Add(time.Minute).Format(http.TimeFormat)), "", nil, wait, time.Minute},
		{"down, with a time", 503, header("Retry-After", "30"), "", nil, wait, 30 * time.Second},
		{"at most a day", 503, header("Retry-After", "9999999"), "", nil, wait, 24 * time.Hour},
		{"no answer", 0, nil, "", errors.New("connection refused"), wait, 0},
		{"may not be dialled", 0, nil, "", fmt.Errorf("127.0.0.1 is a loopback address: %w", egress.ErrRefused), broken, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var resp *http.Response
			if c.err == nil {
				resp = &http.Response{StatusCode: c.status, Header: c.header}
			}
			got := judge(resp, c.answer, true, c.err, now)
			if got.verdict != c.want || got.retry != c.retry {
				t.Errorf("%v after %v, want %v after %v", verdictNames[got.verdict], got.retry, verdictNames[c.want], c.retry)
			}
		})
	}
}

// What a chat platform says is shown in terminals and logs, which would obey
// control characters, also those that JSON spells out.
func TestReasonsHaveNoControlCharacters(t *testing.T) {
	for _, answer := range []string{"no \x1b[2Jchannel", `{"error":{"code":"No","message":"no \u001b[2Jchannel"}}`} {
		got := judge(&http.Response{StatusCode: 404}, answer, true, nil, time.Now()).reason
		if strings.ContainsRune(got, '\x1b') || !strings.Contains(got, "\uFFFD[2Jchannel") {
			t.Errorf("%q", got)
		}
	}
}

// What is answered inside is in no reason that everyone reads, whatever it means.
func TestReasonsOfAnswersFromInside(t *testing.T) {
	for status := 100; status <= 599; status++ {
		resp := &http.Response{StatusCode: status, Header: http.Header{}}
		for _, body := range []string{"words", `{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"words"}}`, ""} {
			open, inside := judge(resp, body, true, nil, time.Now()), judge(resp, body, false, nil, time.Now())
			open, inside = open.after("The last time: "), inside.after("The last time: ")
			said := body != "" && inside.verdict != done
			if inside.verdict != open.verdict || strings.Contains(inside.reason, "words") || strings.Contains(inside.inside, "words") != said || open.inside != "" {
				t.Errorf("%d %q: %+v and %+v", status, body, open, inside)
			}
			if said && inside.inside != open.reason || !said && inside.reason != open.reason {
				t.Errorf("%d %q: an administrator reads %q, want %q", status, body, inside.inside, open.reason)
			}
			if said && !strings.Contains(inside.reason, fmt.Sprint(status)) {
				t.Errorf("%d %q: the status is missing: %q", status, body, inside.reason)
			}
		}
	}
}

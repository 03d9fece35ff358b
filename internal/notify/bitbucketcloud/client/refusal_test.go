package client

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// Every status of the API and of the token endpoint has one meaning.
func TestStatuses(t *testing.T) {
	c := &notify.Connection{Name: "c", BaseURL: "https://x.example", OAuthClientID: "key", OAuthClientSecret: secret.New("cl13nt")}
	for status := 200; status < 600; status++ {
		answer := doer(func(*http.Request) (int, string) {
			return status, `{"error":"invalid_grant","error_description":"It is gone.","type":"error","uuid":"{a}"}`
		})
		refused := status >= 300
		_, apiErr := New(answer, nil).User(t.Context(), c, secret.New("t0ken"))
		_, refreshErr := New(answer, nil).Refresh(t.Context(), c, secret.New("r3fresh"))
		_, codeErr := New(answer, nil).Exchange(t.Context(), c, "c0de", "", callback)
		for name, err := range map[string]error{"the API": apiErr, "a refresh": refreshErr, "a code": codeErr} {
			if refused && (!fault.Is(err, fault.Unavailable) || !strings.Contains(fault.As(err).Message, "answers "+strconv.Itoa(status))) {
				t.Errorf("%d of %s: %v", status, name, err)
			}
			if pause := fault.As(err); refused && pause.RetryAfter != map[bool]time.Duration{true: time.Minute}[status == 429] {
				t.Errorf("%d of %s: asked again after %s", status, name, pause.RetryAfter)
			}
		}
		// 204 is an answer without a body, and the others of a success one without
		// what was asked for.
		if !refused && (apiErr != nil) != (status == 204) {
			t.Errorf("%d of the API: %v", status, apiErr)
		}
		if TokenRefused(apiErr) != (status == 401) || Withdrawn(apiErr) || CodeRefused(apiErr) {
			t.Errorf("%d of the API: %v", status, apiErr)
		}
		gone := status >= 400 && status < 500
		if Withdrawn(refreshErr) != gone || CodeRefused(refreshErr) || TokenRefused(refreshErr) {
			t.Errorf("%d of a refresh: %v", status, refreshErr)
		}
		if CodeRefused(codeErr) != gone || Withdrawn(codeErr) || TokenRefused(codeErr) {
			t.Errorf("%d of a code: %v", status, codeErr)
		}
	}
}

// What the token endpoint says decides what is gone.
func TestErrorsOfTheTokenEndpoint(t *testing.T) {
	c := &notify.Connection{Name: "c", BaseURL: "https://x.example", OAuthClientID: "key", OAuthClientSecret: secret.New("cl13nt")}
	for _, e := range []struct {
		status            int
		name, description string
		withdrawn, code   bool
	}{
		{400, "invalid_grant", "", true, true},
		{401, "invalid_grant", "The refresh token was revoked", true, true},
		{400, "unauthorized_client", "", true, false},
		{400, "unauthorized_client", "Invalid OAuth client credentials", false, false},
		{400, "unauthorized_client", "Requests must be authenticated using OAuth client credentials", false, false},
		{400, "invalid_request", "Invalid refresh_token", true, false},
		{400, "invalid_request", "Missing grant_type", false, false},
		{401, "invalid_client", "", false, false},
		{400, "invalid_client", "", false, false},
		{400, "unsupported_grant_type", "", false, false},
		{400, "invalid_scope", "", false, false},
		{400, "", "", false, false},
		{503, "invalid_grant", "", false, false},
		{302, "invalid_grant", "", false, false},
		{429, "slow_down", "", false, false},
	} {
		answer := doer(func(*http.Request) (int, string) {
			return e.status, fmt.Sprintf(`{"error":%q,"error_description":%q}`, e.name, e.description)
		})
		if _, err := New(answer, nil).Refresh(t.Context(), c, secret.New("r3fresh")); Withdrawn(err) != e.withdrawn {
			t.Errorf("a refresh: %v", err)
		}
		if _, err := New(answer, nil).Exchange(t.Context(), c, "c0de", "", callback); CodeRefused(err) != e.code {
			t.Errorf("a code: %v", err)
		}
	}
}

// Words are the platform's own, short and on one line.
func TestWords(t *testing.T) {
	c := &notify.Connection{Name: "c", BaseURL: "https://x.example"}
	for body, want := range map[string]string{
		`{"type":"error","error":{"message":"No."}}`:                                         "answers 400 Bad Request, No.",
		`{"type":"error","error":{"message":"Bad","fields":{"url":["u1","u2"],"a":["a1"]}}}`: "answers 400 Bad Request, Bad; a: a1; url: u1 u2.",
		`{"type":"error","error":{"message":"Two\nlines","detail":"text"}}`:                  "answers 400 Bad Request, Two lines.",
		`{"error":{"message":"` + strings.Repeat("é", 400) + `"}}`:                           "answers 400 Bad Request, " + strings.Repeat("é", 299) + "….",
		"Rate limit for this resource has been exceeded\n":                                   "answers 400 Bad Request, Rate limit for this resource has been exceeded.",
		"<html>Sign in</html>": "answers 400 Bad Request.",
		"\xff\xfe":             "answers 400 Bad Request.",
		"":                     "answers 400 Bad Request.",
		`null`:                 "answers 400 Bad Request.",
		`{"error":"text"}`:     "answers 400 Bad Request.",
	} {
		cl := New(doer(func(*http.Request) (int, string) { return 400, body }), nil)
		if _, err := cl.User(t.Context(), c, secret.New("t0ken")); err == nil || fault.As(err).Message != "The platform of c "+want {
			t.Errorf("%s: %v", body, err)
		}
	}
}

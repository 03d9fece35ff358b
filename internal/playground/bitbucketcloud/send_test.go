package bitbucketcloud

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// receiver keeps what it was sent and answers the next status.
type receiver struct {
	*httptest.Server
	statuses []int

	mu      sync.Mutex
	headers []http.Header
	bodies  []string
}

func receive(t *testing.T, statuses ...int) *receiver {
	t.Helper()
	r := &receiver{statuses: statuses}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.headers, r.bodies = append(r.headers, q.Header), append(r.bodies, string(body))
		if status := r.statuses[min(len(r.bodies), len(r.statuses))-1]; status != 0 {
			w.WriteHeader(status)
			return
		}
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(r.Close)
	return r
}

func TestSend(t *testing.T) {
	for name, c := range map[string]struct {
		statuses         []int
		attempts, status int
	}{
		"taken":                  {[]int{202}, 1, 202},
		"taken the third time":   {[]int{500, 503, 202}, 3, 202},
		"never taken":            {[]int{503}, 3, 503},
		"refused":                {[]int{401}, 1, 401},
		"sent on":                {[]int{302}, 1, 302},
		"cut off after an error": {[]int{502, 0}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, _ := serve(t, Options{})
			r := receive(t, c.statuses...)
			uid := p.SetWebhook(Webhook{Workspace: "acme", Slug: "shop", URL: r.URL, Active: true, Events: []string{"repo:push"}, Secret: "s3cret"})
			sent := p.Send(t.Context(), "acme", "shop", "repo:push", []byte(`{"push":{}}`))
			r.mu.Lock()
			defer r.mu.Unlock()
			if len(sent) != 1 || sent[0].Attempts != c.attempts || sent[0].Status != c.status || (sent[0].Err != nil) != (c.status == 0) || len(r.bodies) != c.attempts {
				t.Fatalf("%+v", sent)
			}
			mac := hmac.New(sha256.New, []byte("s3cret"))
			mac.Write([]byte(`{"push":{}}`))
			for i, h := range r.headers {
				want := map[string]string{
					"X-Event-Key": "repo:push", "X-Hook-Uuid": strings.Trim(uid, "{}"), "X-Request-Uuid": sent[0].RequestID,
					"X-Attempt-Number": string(rune('1' + i)), "X-Hub-Signature": "sha256=" + hex.EncodeToString(mac.Sum(nil)), "Content-Type": "application/json",
				}
				for name, value := range want {
					if h.Get(name) != value {
						t.Errorf("%s is %q", name, h.Get(name))
					}
				}
			}
		})
	}
}

// An event goes to the webhooks of its repository that are on and ask for it,
// signed where they have a secret; a body over 256 KB goes nowhere.
func TestWhatIsSent(t *testing.T) {
	p, _, _ := serve(t, Options{})
	plain, off, others := receive(t, 202), receive(t, 202), receive(t, 202)
	p.SetWebhook(Webhook{Workspace: "acme", Slug: "shop", URL: plain.URL, Active: true, Events: []string{"repo:push", "pullrequest:created"}})
	p.SetWebhook(Webhook{Workspace: "acme", Slug: "shop", URL: off.URL, Events: []string{"repo:push"}})
	p.SetWebhook(Webhook{Workspace: "acme", Slug: "shop", URL: others.URL, Active: true, Events: []string{"issue:created"}})
	p.SetWebhook(Webhook{Workspace: "acme", Slug: "other", URL: others.URL, Active: true, Events: []string{"repo:push"}})
	p.Send(t.Context(), "ACME", "Shop", "repo:push", []byte("{}"))
	largest := `{"x":"` + strings.Repeat("x", maxBody-8) + `"}`
	p.Send(t.Context(), "acme", "shop", "pullrequest:created", []byte(largest))
	if sent := p.Send(t.Context(), "acme", "shop", "repo:push", []byte(largest+" ")); len(sent) != 1 || sent[0].Attempts != 0 || sent[0].Err != nil {
		t.Errorf("too large: %+v", sent)
	}
	for _, r := range []*receiver{plain, off, others} {
		r.mu.Lock()
		defer r.mu.Unlock()
	}
	if !slices.Equal(plain.bodies, []string{"{}", largest}) || plain.headers[0].Get("X-Hub-Signature") != "" || len(off.bodies)+len(others.bodies) != 0 {
		t.Errorf("%d, %d, %d", len(plain.bodies), len(off.bodies), len(others.bodies))
	}
}

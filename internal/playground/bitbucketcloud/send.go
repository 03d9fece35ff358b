package bitbucketcloud

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// attempts is how often a webhook is called: again after each 5xx.
	attempts = 3
	// sendTimeout is how long the platform waits for an answer.
	sendTimeout = 10 * time.Second
	// maxBody is the largest body that the platform sends; a larger one it drops
	// without a word.
	maxBody = 256 << 10
)

// Sent is what came of an event at one webhook.
type Sent struct {
	RequestID string
	Attempts  int   // 0: it was too large
	Status    int   // of the last answer; 0: none
	Err       error // of the last attempt
}

// Send sends an event of a repository to those of its webhooks that ask for the
// key: signed where the webhook has a secret, again after a 5xx, and not at all
// where the body is too large.
func (p *Platform) Send(ctx context.Context, workspace, slug, key string, body []byte) []Sent {
	var sent []Sent
	for _, w := range p.Webhooks(workspace, slug) {
		if !w.Active || !slices.Contains(w.Events, key) {
			continue
		}
		s := Sent{RequestID: strings.Trim(uuid(), "{}")}
		if len(body) <= maxBody {
			w.send(ctx, &s, key, body)
		}
		sent = append(sent, s)
	}
	return sent
}

func (w *Webhook) send(ctx context.Context, s *Sent, key string, body []byte) {
	client := http.Client{
		Timeout:       sendTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	for s.Attempts < attempts && (s.Attempts == 0 || s.Status >= 500) {
		s.Attempts++
		s.Status, s.Err = w.attempt(ctx, &client, s, key, body)
	}
}

func (w *Webhook) attempt(ctx context.Context, client *http.Client, s *Sent, key string, body []byte) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("User-Agent", "Bitbucket-Webhooks/2.0")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Event-Key", key)
	r.Header.Set("X-Hook-UUID", strings.Trim(w.UUID, "{}"))
	r.Header.Set("X-Request-UUID", s.RequestID)
	r.Header.Set("X-Attempt-Number", strconv.Itoa(s.Attempts))
	if w.Secret != "" {
		mac := hmac.New(sha256.New, []byte(w.Secret))
		mac.Write(body)
		r.Header.Set("X-Hub-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxBody)) // nothing of it is used
	return resp.StatusCode, nil
}

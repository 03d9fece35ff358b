package playground

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"outrigger/internal/playground/samples"
)

// Platform is a self-hosted code-hosting platform that posts signed webhooks.
type Platform struct {
	HookURL string // where it posts, such as http://127.0.0.1:8090/hooks/demo
	Secret  string
	Clock   func() time.Time

	posted atomic.Int64
}

// Next sends the next event of a project's day, and gives its name and the
// status that it got.
func (p *Platform) Next(ctx context.Context) (name string, status int, err error) {
	n := p.posted.Add(1) - 1
	day := samples.Samples()
	s := day[n%int64(len(day))]
	status, err = p.Post(ctx, s, 1+n/int64(len(day)))
	return s.Name, status, err
}

// Post sends the sample as the platform would, and returns the status it got.
// seq decides on names and ids, as in samples.Sample.
func (p *Platform) Post(ctx context.Context, s samples.Sample, seq int64) (int, error) {
	body := s.Render(seq, p.Clock())
	mac := hmac.New(sha256.New, []byte(p.Secret))
	mac.Write(body)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.HookURL, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("post sample: %w", err)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("X-Event-Key", s.EventKey)
	req.Header.Set("X-Request-Id", rand.Text())
	req.Header.Set("X-Hub-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("post sample: %w", err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, nil
}

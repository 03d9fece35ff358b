package app

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/notify/hook"
	"outrigger/internal/secret"
)

// A stop in the middle of traffic answers every webhook that it took: what got
// a 202 is in the database, and nothing is answered but 202 and 503.
//
// Not parallel: the steps of a stop have limits, and another test may be given the
// port that it left.
func TestStopUnderLoad(t *testing.T) {
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{{
		Name: "main", Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com", WebhookSecret: secret.New("hook secret"),
	}}
	a := start(t, cfg)

	const senders, before = 8, 200
	var taken atomic.Int64
	enough, stop := context.WithCancel(t.Context())
	defer stop()
	var sending sync.WaitGroup
	for sender := range senders {
		sending.Go(func() {
			for n := 0; ; n++ {
				status, err := post(a.URL(), fmt.Sprintf("%d-%d", sender, n))
				switch {
				case err != nil: // the listener is closed
					return
				case status == http.StatusAccepted:
					if taken.Add(1) == before {
						stop()
					}
				case status != http.StatusServiceUnavailable:
					t.Errorf("a webhook was answered %d", status)
				}
			}
		})
	}
	<-enough.Done()
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	sending.Wait()

	var stored int64
	again := start(t, cfg)
	err := again.db.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM notify_events`).Scan(&stored)
	})
	// A webhook whose answer was lost on the way may be stored as well.
	if err != nil || stored < taken.Load() || stored > taken.Load()+senders {
		t.Errorf("%d webhooks were taken and %d are stored: %v", taken.Load(), stored, err)
	}
}

// post sends a webhook of its own on a connection of its own.
func post(base, id string) (int, error) {
	body := fmt.Appendf(nil, `{"eventKey":"repo:forked","note":%q}`, id)
	r, err := http.NewRequest("POST", base+"/hooks/main", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Close = true
	r.Header.Set("X-Event-Key", "repo:forked")
	r.Header.Set("X-Request-Id", id)
	r.Header.Set(hook.SignatureHeader, hook.Sign(body, secret.New("hook secret")))
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}

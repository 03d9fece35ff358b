package hook

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/secret"
)

// hang keeps the database from committing events until resume is called.
func hang(t *testing.T, d *db.DB) (resume func()) {
	t.Helper()
	held, free := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- d.Write(t.Context(), func(tx *db.Tx) error {
			if tx.Dialect() == db.Postgres { // SQLite has one writer anyway
				if _, err := tx.Exec(t.Context(), `LOCK TABLE notify_generation IN ACCESS EXCLUSIVE MODE`); err != nil {
					return err
				}
			}
			close(held)
			<-free
			return nil
		})
	}()
	<-held
	return func() {
		close(free)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// The sender gives up after 10 s and counts a failure: it is told before that
// the database hangs. What it sends again is the same event, whether the first
// was committed after all or not.
func TestAHangingDatabaseIsAnAnswerInTime(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		hasty, s := serve(t, d, 100*time.Millisecond), serve(t, d, 0)
		body := []byte(`{"eventKey":"push"}`)
		signature := Sign(body, secret.New(hookSecret))
		resume := hang(t, d)
		if got := hasty.hook("dc", "push", signature, "1", body); got != 503 {
			t.Errorf("status %d while the database hangs, want 503", got)
		}
		resume()
		if got := s.hook("dc", "push", signature, "1", body); got != 202 {
			t.Errorf("status %d for the same again, want 202", got)
		}
		if n := s.events(); n != 1 {
			t.Errorf("%d events, want 1", n)
		}
	}, migrations...)
}

// Platforms do not send again what they gave up, and it is here to its end.
func TestWhatComesFromASenderThatHangsUpIsKept(t *testing.T) {
	s := newServer(t)
	body := []byte(`{"eventKey":"push"}`)
	r := s.request("dc", "push", Sign(body, secret.New(hookSecret)), "1", body)
	ctx, hangUp := context.WithCancel(r.Context())
	hangUp()
	s.router.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
	if n := s.events(); n != 1 {
		t.Errorf("%d events, want 1", n)
	}
}

func (s *server) events() int {
	s.t.Helper()
	return s.count(`SELECT count(*) FROM notify_events`)
}

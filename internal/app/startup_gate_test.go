package app

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/fault"
)

func ask(f *startupGate, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	f.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

var hello = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })

func TestFrontWhileStarting(t *testing.T) {
	for _, test := range []struct {
		path   string
		status int
		body   string
		wait   time.Duration
	}{
		{"/healthz", 200, "ok\n", 0},
		{"/readyz", 503, "Outrigger is starting; try again in a moment.\n", 0},
		{"/", 503, "Outrigger is starting; try again in a moment.\n", 0},
		{"/rest/mtbs/1.0/configuration/filter", 503, `{"status-code":503,"message":"Outrigger is starting; try again in a moment."}`, 0},
		{"/hooks/main", 503, `{"status-code":503,"message":"Outrigger is starting; try again in a moment."}`, hookPatience},
		{"/hooksmith", 503, "Outrigger is starting; try again in a moment.\n", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			w := ask(newStartupGate(""), test.path)
			if w.Code != test.status || w.Body.String() != test.body {
				t.Errorf("%s: %d %q", test.path, w.Code, w.Body)
			}
			if took := time.Since(began); took != test.wait {
				t.Errorf("%s was answered after %v", test.path, took)
			}
			if w.Header().Get("X-Request-Id") == "" || w.Code == 503 && test.path != "/readyz" && w.Header().Get("Retry-After") != "1" {
				t.Errorf("%s: headers %v", test.path, w.Header())
			}
		})
	}
}

// A webhook that comes while the process starts is answered when it is ready.
func TestFrontWebhookWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStartupGate("/outrigger")
		time.AfterFunc(3*time.Second, func() { f.serve(hello) })
		began := time.Now()
		w := ask(f, "/outrigger/hooks/main")
		if w.Code != 200 || w.Body.String() != "hello" || time.Since(began) != 3*time.Second {
			t.Errorf("%d %q after %v", w.Code, w.Body, time.Since(began))
		}
	})
}

// A sender that gives up while it waits is not kept.
func TestFrontWebhookGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		newStartupGate("").ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "POST", "/hooks/main", nil))
		if time.Since(began) != time.Second {
			t.Errorf("it was held for %v", time.Since(began))
		}
	})
}

func TestFrontReadiness(t *testing.T) {
	var broken error
	f := newStartupGate("/outrigger")
	f.serve(hello, func(context.Context) error { return nil }, func(context.Context) error { return broken })
	if w := ask(f, "/outrigger/readyz"); w.Code != 200 || w.Body.String() != "ready\n" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	broken = fault.New(fault.Unavailable, "The database does not answer.")
	if w := ask(f, "/readyz"); w.Code != 503 || w.Body.String() != "The database does not answer.\n" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	if w := ask(f, "/anything"); w.Code != 200 {
		t.Errorf("a node that is not ready refuses what comes: %d", w.Code)
	}
}

// While the process stops, webhooks are still taken; at the end, nothing is,
// and what is under way is waited for.
func TestFrontStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f := newStartupGate("")
		f.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-release; io.WriteString(w, "late") }))
		f.stop()
		if w := ask(f, "/rest/x"); w.Code != 503 || !strings.Contains(w.Body.String(), "Outrigger is stopping") {
			t.Errorf("%d %q", w.Code, w.Body)
		}
		if w := ask(f, "/readyz"); w.Code != 503 {
			t.Errorf("readyz: %d", w.Code)
		}
		answered := make(chan *httptest.ResponseRecorder, 1)
		go func() { answered <- ask(f, "/hooks/main") }()
		synctest.Wait()
		drained := make(chan error, 1)
		go func() { drained <- f.drain(t.Context()) }()
		synctest.Wait()
		if w := ask(f, "/hooks/main"); w.Code != 503 {
			t.Errorf("a webhook after the drain: %d", w.Code)
		}
		if w := ask(f, "/healthz"); w.Code != 200 {
			t.Errorf("healthz: %d", w.Code)
		}
		select {
		case err := <-drained:
			t.Errorf("the drain did not wait: %v", err)
		default:
		}
		close(release)
		if err := <-drained; err != nil {
			t.Error(err)
		}
		if w := <-answered; w.Body.String() != "late" {
			t.Errorf("the webhook under way got %d %q", w.Code, w.Body)
		}
	})
}

func TestFrontDrainIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f := newStartupGate("")
		f.serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
		go ask(f, "/slow")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := f.drain(ctx); err == nil || err.Error() != "1 requests were cut off" {
			t.Errorf("got %v", err)
		}
		close(release)
	})
}

// A start that fails before the process served lets go of who waits.
func TestFrontStopsWhileStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStartupGate("")
		answered := make(chan int, 1)
		go func() { answered <- ask(f, "/hooks/main").Code }()
		synctest.Wait()
		f.stop()
		if code := <-answered; code != 503 {
			t.Errorf("got %d", code)
		}
		if err := f.drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

package alerts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is an overview and a channel, with a clock that stands still until it is
// moved.
type world struct {
	t   *testing.T
	db  *db.DB
	now time.Time

	notices []Notice
	partial error // what reading the overview meets
	broken  error // what sending meets
	tries   int
	sent    []string
}

func each(t *testing.T, fn func(t *testing.T, w *world)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		fn(t, &world{t: t, db: d, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
	}, Migrations)
}

// node is a service of the world, as one of several or after a restart.
func (w *world) node(name string) *Service {
	w.t.Helper()
	leases := dbtest.Leases(w.t, w.db, name)
	return New(Options{
		DB: w.db, Leases: leases, URL: secret.New("https://chat.example.com/hook"), After: 5 * time.Minute,
		Ask:   func(context.Context) ([]Notice, error) { return w.notices, w.partial },
		Send:  w.send,
		Clock: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler),
	})
}

func (w *world) send(_ context.Context, m Message) error {
	w.tries++
	if w.broken != nil {
		return w.broken
	}
	var text []string
	for _, t := range m.Present {
		text = append(text, "+"+t.Text)
	}
	for _, t := range m.Ended {
		text = append(text, fmt.Sprintf("-%s after %s", t.Text, t.GoneAt.Sub(t.Since)))
	}
	w.sent = append(w.sent, strings.Join(text, " "))
	return nil
}

// after has a time pass and a node look, who must then have sent that.
func (w *world) after(d time.Duration, s *Service, want ...string) {
	w.t.Helper()
	w.now = w.now.Add(d)
	if err := s.runOnce(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	if strings.Join(w.sent, "|") != strings.Join(want, "|") {
		w.t.Errorf("at %s it sent %q, want %q", w.now.Format("15:04:05"), w.sent, want)
	}
	w.sent = nil
}

func disk() Notice                 { return Notice{Key: "disk", Text: "the disk is full", Bad: true} }
func channel() Notice              { return Notice{Key: "channel", Text: "3 messages wait"} }
func (w *world) shows(n ...Notice) { w.notices = n }

// What lasts is told once, and its end once; a text that changes is no news.
func TestToldOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.node("one")
		w.shows(disk())
		w.after(0, s)
		w.after(4*time.Minute, s)
		w.shows(disk(), channel())
		w.after(time.Minute, s, "+the disk is full")
		later := channel()
		later.Text = "4 messages wait"
		w.shows(disk(), later)
		w.after(time.Hour, s, "+4 messages wait")
		w.after(time.Hour, s)
		w.shows(later)
		w.after(time.Minute, s)
		w.after(5*time.Minute, s, "-the disk is full after 2h6m0s")
		w.shows()
		w.after(time.Minute, s)
		w.shows(disk())
		w.after(time.Minute, s)
		w.after(5*time.Minute, s, "+the disk is full -4 messages wait after 2h7m0s")
		w.after(24*time.Hour, s)
	})
}

// What comes and goes within the time is not told of, neither its beginning nor
// its end.
func TestFlapping(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.node("one")
		for range 5 {
			w.shows(disk())
			w.after(3*time.Minute, s)
			w.shows()
			w.after(3*time.Minute, s)
		}
		w.shows(disk())
		w.after(0, s)
		w.after(5*time.Minute, s, "+the disk is full")
		for range 5 {
			w.shows()
			w.after(3*time.Minute, s)
			w.shows(disk())
			w.after(3*time.Minute, s)
		}
	})
}

// A restart neither tells again nor forgets the end.
func TestRestart(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.shows(disk())
		w.after(0, w.node("one"))
		w.after(5*time.Minute, w.node("one"), "+the disk is full")
		w.after(time.Hour, w.node("one"))
		w.shows()
		w.after(time.Hour, w.node("one"))
		w.after(5*time.Minute, w.node("one"), "-the disk is full after 2h5m0s")
	})
}

// Two nodes that look at the same time tell once.
func TestOneNodeTells(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		one, other := w.node("one"), w.node("other")
		w.shows(disk())
		w.after(0, one)
		w.now = w.now.Add(time.Hour)
		inside, on := make(chan struct{}), make(chan struct{})
		ask := one.o.Ask
		one.o.Ask = func(ctx context.Context) ([]Notice, error) {
			close(inside)
			<-on
			return ask(ctx)
		}
		var wg sync.WaitGroup
		var failed error
		wg.Go(func() { failed = one.runOnce(t.Context()) })
		<-inside
		if err := other.runOnce(t.Context()); err != nil || w.tries != 0 {
			t.Errorf("the other node sent %d, %v", w.tries, err)
		}
		close(on)
		wg.Wait()
		if failed != nil || w.tries != 1 {
			t.Errorf("it sent %d, %v", w.tries, failed)
		}
		w.sent = nil
		w.after(time.Minute, other)
	})
}

// A channel that fails is tried again with growing pauses, and then told all that
// changed; the failure is known meanwhile, on another node too.
func TestFailure(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.node("one")
		w.broken = fault.New(fault.Unavailable, "The chat platform answered 404.")
		w.shows(disk())
		w.after(0, s)
		w.after(5*time.Minute, s)
		if f, err := w.node("other").Failure(t.Context()); err != nil || f == nil || f.Reason != "The chat platform answered 404." || !f.At.Equal(w.now) {
			t.Fatalf("the failure is %+v, %v", f, err)
		}
		for range 60 { // an hour
			w.after(time.Minute, s)
		}
		if w.tries < 5 || w.tries > 10 {
			t.Errorf("%d tries in an hour", w.tries)
		}
		w.shows(disk(), channel())
		w.after(0, s)
		w.broken = nil
		w.after(15*time.Minute, s, "+the disk is full +3 messages wait")
		if f, err := s.Failure(t.Context()); err != nil || f != nil {
			t.Errorf("the failure stays: %+v, %v", f, err)
		}
	})
}

// A failure of another URL is not that of this channel.
func TestFailureOfTheChannelBefore(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.node("one")
		w.broken = errors.New("away")
		w.shows(disk())
		w.after(0, s)
		w.after(5*time.Minute, s)
		s = w.node("one")
		s.url = secret.Fingerprint("https://chat.example.com/other")
		if f, err := s.Failure(t.Context()); err != nil || f != nil {
			t.Errorf("the failure is %+v, %v", f, err)
		}
		w.broken = nil
		w.after(0, s, "+the disk is full")
	})
}

// While a part of the overview cannot be read, what it does not show is not over.
func TestPartOfTheOverview(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.node("one")
		w.shows(disk())
		w.after(0, s)
		w.after(5*time.Minute, s, "+the disk is full")
		w.partial = errors.New("the mail queue does not answer")
		w.shows(channel())
		w.after(time.Minute, s)
		w.after(time.Hour, s, "+3 messages wait")
		w.partial = nil
		w.shows(disk(), channel())
		w.after(time.Hour, s)
	})
}

// What is shown is bounded, whatever the overview says.
func TestBounds(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.node("one")
		for i := range maxNotices + 10 {
			w.notices = append(w.notices, Notice{Key: fmt.Sprint(i), Text: strings.Repeat("ü\x00\xff", maxText)})
		}
		if err := s.runOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := s.read(t.Context())
		if err != nil || len(list) != maxNotices || len([]rune(list[0].Text)) != maxText+1 {
			t.Errorf("%d are stored, %v", len(list), err)
		}
	})
}

// Where there are more notices than are kept, one that others push back in the list has not
// ended.
func TestWhatIsPushedBackHasNotEnded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.node("one")
		w.shows(disk())
		w.after(0, s)
		w.after(time.Hour, s, "+the disk is full")
		var more []Notice
		for i := range maxNotices {
			more = append(more, Notice{Key: fmt.Sprint(i), Text: "new"})
		}
		w.shows(append(more, disk())...)
		if err := s.runOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := s.read(t.Context())
		if err != nil || len(list) != maxNotices || list[0].Text != disk().Text || !list[0].GoneAt.IsZero() {
			t.Errorf("%d are stored, the first of them %+v, %v", len(list), list[0], err)
		}
	})
}

// A message that is cut off by a stop is sent again and is no failure.
func TestStopWhileSending(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.node("one")
		w.shows(disk())
		w.after(0, s)
		w.now = w.now.Add(5 * time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		s.o.Send = func(ctx context.Context, _ Message) error {
			stop()
			<-ctx.Done()
			return ctx.Err()
		}
		if err := s.runOnce(ctx); err != nil {
			t.Fatal(err)
		}
		if f, err := s.Failure(t.Context()); err != nil || f != nil {
			t.Errorf("the failure is %+v, %v", f, err)
		}
		w.after(0, w.node("one"), "+the disk is full")
	})
}

func TestSchema(t *testing.T) { dbtest.SameSchema(t, Migrations) }

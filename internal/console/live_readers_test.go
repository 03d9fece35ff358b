package console

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// follow opens a stream as ada.
func follow(t *testing.T, s *httptest.Server) (*http.Response, *bufio.Reader) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream") // as browsers do
	r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: "s-ada"})
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer, bufio.NewReader(answer.Body)
}

// ended reads to the end of a stream, on which something may be on its way.
func ended(t *testing.T, events *bufio.Reader) {
	t.Helper()
	for range 1000 { // lines: more than come in seconds
		if _, err := events.ReadString('\n'); err != nil {
			return
		}
	}
	t.Error("the stream goes on")
}

// What is shown is read and rendered only when its version is another one, even
// where it would not be rendered alike.
func TestLiveAsksWhatChangedFirst(t *testing.T) {
	var version, asked, rendered atomic.Int64
	_, s := liveSite(t, Live{Every: often,
		Version: func(context.Context) (string, error) {
			asked.Add(1)
			return strconv.FormatInt(version.Load(), 10), nil
		},
		Data: func(context.Context) (any, error) { return rendered.Add(1), nil },
	})
	_, events := follow(t, s)
	nextEvent(t, events)
	until(t, func() bool { return asked.Load() > 3 })
	version.Store(1)
	if got := nextEvent(t, events); got != "data: <p>2</p>\ndata: <p>two</p>\n" {
		t.Errorf("after a change: %q", got)
	}
	if rendered.Load() != 2 {
		t.Errorf("asked %d times for the data, want 2", rendered.Load())
	}
}

// Streams of the same topic have it asked once for all of them.
func TestLiveAnswersAreShared(t *testing.T) {
	var readers liveReaders
	var asked atomic.Int64
	ask := func(context.Context) (string, error) { return strconv.FormatInt(asked.Add(1), 10), nil }
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got, err := readers.shared(t.Context(), "deliveries", time.Hour, ask); got != "1" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	all.Wait()
	if got, _ := readers.shared(t.Context(), "events", time.Hour, ask); got != "2" {
		t.Errorf("another topic: %q", got)
	}
	if got, _ := readers.shared(t.Context(), "deliveries", 0, ask); got != "3" {
		t.Errorf("when the answer is old: %q", got)
	}
	if got, _ := readers.shared(t.Context(), "", time.Hour, ask); got != "4" {
		t.Errorf("without a topic: %q", got)
	}
}

// streamOf is a stream that is not served.
func streamOf(t *testing.T, c *Console, l Live) *stream {
	t.Helper()
	l.Template, l.Part = "n", "content"
	s := &stream{Live: l, x: &exchange{c: c, w: httptest.NewRecorder(), r: httptest.NewRequest("GET", "/", nil)}}
	s.out = http.NewResponseController(s.x.w)
	return s
}

// counterConsole has one page, which shows its data.
func counterConsole(t *testing.T) *Console {
	t.Helper()
	c := new(Console)
	if err := c.pages.shell(Sub(shellTemplates, "templates"), c.funcs()); err != nil {
		t.Fatal(err)
	}
	c.AddPages(wingOf(map[string]string{"n.html": `{{define "content"}}{{.}}{{end}}`}))
	return c
}

// A page that is the same for all its readers is rendered once for them, but for
// the first time.
func TestLivePartIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rendered int
		c := counterConsole(t)
		l := Live{Every: 2 * time.Second, Topic: "n", Data: func(context.Context) (any, error) { rendered++; return rendered, nil }}
		streams := []*stream{streamOf(t, c, l), streamOf(t, c, l), streamOf(t, c, l)}
		for turn, want := range []int{3, 4, 5} { // the first time each for itself
			for _, s := range streams {
				if html, err := s.next(t.Context()); html == nil || err != nil {
					t.Errorf("turn %d: %q, %v", turn, html, err)
				}
			}
			if rendered != want {
				t.Errorf("turn %d: rendered %d times, want %d", turn, rendered, want)
			}
			<-time.After(l.Every) // of the test's clock
		}
	})
}

// An answer that took long is not asked for again at once.
func TestLiveRestsAfterSlowAnswers(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: 0, 100 * time.Millisecond: 2 * time.Second, time.Minute: liveSlowest} {
		if got := pause(took); got != want {
			t.Errorf("after %v: %v, want %v", took, got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var asked int
		s := streamOf(t, counterConsole(t), Live{Every: 2 * time.Second, Data: func(context.Context) (any, error) {
			asked++
			<-time.After(time.Second) // of the test's clock: an answer that takes a second
			return asked, nil
		}})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		s.run(ctx)
		if asked < 4 || asked > 5 {
			t.Errorf("asked %d times in 100 s, want every 21 s", asked)
		}
	})
}

func TestLiveStreamsAreLimited(t *testing.T) {
	_, s := liveSiteOf(t, &sessions{}, SignedIn, Live{Every: time.Hour, Data: func(context.Context) (any, error) { return 0, nil }})
	var last *http.Response
	for range rest.StreamsPerUser {
		answer, events := follow(t, s)
		nextEvent(t, events)
		last = answer
	}
	refused, _ := follow(t, s)
	if refused.StatusCode != 503 || refused.Header.Get("Retry-After") != "30" {
		t.Errorf("one more: %d, Retry-After %q", refused.StatusCode, refused.Header.Get("Retry-After"))
	}
	last.Body.Close()
	for until := time.Now().Add(patience); ; { // until the server sees that it is gone
		if again, _ := follow(t, s); again.StatusCode == 200 {
			break
		}
		if time.Now().After(until) {
			t.Fatal("a stream that ended still counts")
		}
	}
}

// A stream ends at its next turn when the session is over, or has not the
// permissions that it began with: a disabled user reads no further.
func TestLiveEndsWithTheSession(t *testing.T) {
	for name, end := range map[string]func(*sessions){
		"signed out":      func(s *sessions) { s.over.Store(true) },
		"rights lost":     func(s *sessions) { s.now.Store(&identity.Principal{UserID: 1, Name: "ada"}) },
		"rights narrowed": func(s *sessions) { narrow := ada(); narrow.Grants[0].Resource.Project = "ATL"; s.now.Store(narrow) },
	} {
		t.Run(name, func(t *testing.T) {
			n, users := new(atomic.Int64), &sessions{}
			_, s := liveSiteOf(t, users, Needs(identity.Admin), Live{Every: often,
				Data: func(context.Context) (any, error) { return n.Add(1), nil }})
			_, events := follow(t, s)
			nextEvent(t, events)
			nextEvent(t, events) // as long as nothing is lost
			end(users)
			ended(t, events)
		})
	}
}

// A page that stays open does not keep its session from ending.
func TestLiveIsNoUseOfTheSession(t *testing.T) {
	n, users := new(atomic.Int64), &sessions{}
	_, s := liveSiteOf(t, users, SignedIn, Live{Every: often, Data: func(context.Context) (any, error) { return n.Add(1), nil }})
	_, events := follow(t, s)
	nextEvent(t, events)
	nextEvent(t, events)
	if users.uses.Load() != 0 {
		t.Errorf("the stream used the session %d times", users.uses.Load())
	}
}

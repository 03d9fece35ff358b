package api

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/notify"
)

// asked is a platform that counts its questions, and answers when it may.
type asked struct {
	mu     sync.Mutex
	n      int
	begun  chan struct{} // nil: it answers at once
	answer chan struct{}
}

func (a *asked) OpenPullRequests(ctx context.Context, _ *notify.Connection, _ notify.RepositoryRef) ([]notify.OpenPullRequest, error) {
	a.mu.Lock()
	a.n++
	begun := a.begun
	a.mu.Unlock()
	if begun != nil {
		begun <- struct{}{}
		<-a.answer
	}
	return nil, nil
}

func (a *asked) questions() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.n
}

// A user asks the platform ten times a minute, all users together twenty times
// about a repository, whichever of its reports they view or test.
func TestReportsAreNotViewedWithoutEnd(t *testing.T) {
	s := newServer(t)
	now, platform := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), &asked{}
	s.reports.Clock, s.reports.Lister = func() time.Time { return now }, platform
	var views []string
	for range 2 {
		views = append(views, fmt.Sprintf("%s/%v/view", ReportsPath, s.want(201, s.do("POST", ReportsPath, "root", fmt.Sprintf(someReport, "")))["id"]))
	}
	view := func(user string, i int) *httptest.ResponseRecorder { return s.do("GET", views[i%2], user, "") }
	for i := range 10 {
		s.want(200, view("repo", i))
		s.want(200, view("project", i))
	}
	for user, says := range map[string]string{"repo": "10 times within a minute", "admin": "Reports of ATL/canoe were viewed or tested 20 times"} {
		w := view(user, 0)
		if v := s.want(429, w); !strings.Contains(fmt.Sprint(v["message"]), says) || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %q %v", user, w.Header().Get("Retry-After"), v)
		}
	}
	s.want(403, view("nobody", 0))
	if n := platform.questions(); n != 20 {
		t.Errorf("the platform was asked %d times", n)
	}
	now = now.Add(6 * time.Second) // as the answer to repo's said
	s.want(200, view("repo", 0))
	s.want(429, view("repo", 0))
}

// A user waits for three answers at once: a platform that hangs holds no more
// connections of the server than that.
func TestAUserWaitsForFewReportsAtOnce(t *testing.T) {
	s := newServer(t)
	platform := &asked{begun: make(chan struct{}), answer: make(chan struct{})}
	s.reports.Lister = platform
	view := fmt.Sprintf("%s/%v/view", ReportsPath, s.want(201, s.do("POST", ReportsPath, "root", fmt.Sprintf(someReport, "")))["id"])
	var waiting sync.WaitGroup
	for range 3 {
		waiting.Go(func() { s.want(200, s.do("GET", view, "repo", "")) })
		<-platform.begun
	}
	w := s.do("GET", view, "repo", "")
	if v := s.want(429, w); !strings.Contains(fmt.Sprint(v["message"]), "waiting for 3 answers") || w.Header().Get("Retry-After") != "1" {
		t.Errorf("%q %v", w.Header().Get("Retry-After"), v)
	}
	waiting.Go(func() { s.want(200, s.do("GET", view, "project", "")) }) // another user is not held up
	<-platform.begun
	close(platform.answer)
	waiting.Wait()
	waiting.Go(func() { <-platform.begun })
	s.want(200, s.do("GET", view, "repo", ""))
	waiting.Wait()
}

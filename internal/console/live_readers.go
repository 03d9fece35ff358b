package console

import (
	"context"
	"slices"
	"sync"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// liveRetry is when a page that was refused tries again.
const liveRetry = 30 * time.Second

// liveReaders counts the live streams, and has what they share. Pages in the
// background have none.
type liveReaders struct {
	streams rest.Streams
	mu      sync.Mutex
	ofTopic map[string]*sharedAnswer
}

// enter counts a new stream until leave: fault.Unavailable where there are too
// many.
func (l *liveReaders) enter(who *identity.Principal) (leave func(), err error) {
	left, beyond := l.streams.Enter(who)
	switch beyond {
	case rest.StreamsOfServer:
		return nil, tooManyLive("Too many live pages are open on this server. Reload the page to see what is new.")
	case rest.StreamsOfUser:
		return nil, tooManyLive("You have too many live pages open. Close some of them.")
	}
	return func() {
		left()
		if l.streams.None() {
			l.forget()
		}
	}, nil
}

func tooManyLive(text string) error {
	return &fault.Error{Code: fault.Unavailable, Message: text, RetryAfter: liveRetry}
}

// forget drops the answers that are kept.
func (l *liveReaders) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ofTopic = nil
}

// maxTopics bounds the answers that are kept; filters make the topics.
const maxTopics = 2 * rest.StreamsAtOnce

// sharedAnswer is the last answer about a topic.
type sharedAnswer struct {
	mu     sync.Mutex // held while one stream asks and the others wait
	at     time.Time
	answer string
}

// shared returns the answer about a topic, asking again where the last one is
// older than fresh.
func (l *liveReaders) shared(
	ctx context.Context, topic string, fresh time.Duration, ask func(context.Context) (string, error),
) (string, error) {
	if topic == "" {
		return ask(ctx)
	}
	v := l.topic(topic)
	v.mu.Lock()
	defer v.mu.Unlock()
	if time.Since(v.at) < fresh {
		return v.answer, nil
	}
	began := time.Now()
	answer, err := ask(ctx)
	if err == nil {
		v.at, v.answer = began, answer
	}
	return answer, err
}

func (l *liveReaders) topic(name string) *sharedAnswer {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.ofTopic[name]
	if v == nil {
		if l.ofTopic == nil || len(l.ofTopic) >= maxTopics {
			l.ofTopic = map[string]*sharedAnswer{}
		}
		v = new(sharedAnswer)
		l.ofTopic[name] = v
	}
	return v
}

// sameReader reports whether the request's session still exists and has the
// permissions with which it was let in: what is shown may depend on each.
func (x *exchange) sameReader(ctx context.Context) bool {
	if x.principal == nil {
		return true // a page for anyone
	}
	cookie, err := x.r.Cookie(x.sessionCookie())
	if err != nil {
		return false
	}
	now, err := x.c.opts.Identity.Session(identity.Unattended(ctx), cookie.Value)
	return err == nil && now.UserID == x.principal.UserID &&
		slices.EqualFunc(now.Grants, x.principal.Grants, func(a, b identity.Grant) bool {
			return a.Permission == b.Permission && a.Resource == b.Resource
		})
}

package console

import (
	"context"
	"slices"
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
	answers sharedAnswers[string]
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
			l.answers.forget()
		}
	}, nil
}

func tooManyLive(text string) error {
	return &fault.Error{Code: fault.Unavailable, Message: text, RetryAfter: liveRetry}
}

// shared returns the answer about a topic, asking again where the last one is
// older than fresh.
func (l *liveReaders) shared(
	ctx context.Context, topic string, fresh time.Duration, ask func(context.Context) (string, error),
) (string, error) {
	if topic == "" {
		return ask(ctx)
	}
	return l.answers.get(topic, fresh, func() (string, error) { return ask(ctx) })
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

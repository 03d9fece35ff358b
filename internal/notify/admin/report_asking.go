package admin

import (
	"context"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/limit"
	"outrigger/internal/notify"
)

// Limits of what users may ask of platforms by viewing and testing reports, on each node.
// A question takes up to 200 requests to the platform, and keeps a connection open
// for up to 30 s.
const (
	asksByUser       = 10 // a minute, of all reports
	asksByRepository = 20 // a minute, by all users: a team opens a report at the same time
	asksAtOnce       = 3  // of a user: in several windows
)

// reportAsks bounds them. The zero value is ready.
type reportAsks struct {
	users        limit.PerMinute[string]
	repositories limit.PerMinute[repositoryAsked]

	underWay limit.Concurrent[string]
}

type repositoryAsked struct {
	connection string
	at         notify.RepositoryRef
}

// begin counts a question about a repository until done is called.
// fault.RateLimited: there were too many.
func (a *reportAsks) begin(ctx context.Context, r *notify.Report, now time.Time) (done func(), err error) {
	who := identity.From(ctx).Ref()
	leave, ok := a.underWay.Acquire(who, asksAtOnce)
	if !ok {
		return nil, fault.TooOften(time.Second, "You are waiting for %d answers of platforms already. Wait for them.", asksAtOnce)
	}
	if wait := a.users.Take(who, asksByUser, now); wait > 0 {
		leave()
		return nil, fault.TooOften(wait, "You viewed or tested reports %d times within a minute. Wait a moment.", asksByUser)
	}
	if wait := a.repositories.Take(repositoryAsked{r.Connection, r.At().Folded()}, asksByRepository, now); wait > 0 {
		leave()
		return nil, fault.TooOften(wait, "Reports of %s/%s were viewed or tested %d times within a minute. Wait a moment.", r.ProjectKey,
			r.RepositoryKey, asksByRepository)
	}
	return leave, nil
}

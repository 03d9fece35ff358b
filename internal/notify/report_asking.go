package notify

import (
	"context"
	"sync"
	"time"

	"outrigger/internal/identity"
)

// What people may ask of platforms by viewing and testing reports, on each node.
// A question takes up to 200 requests to the platform, and keeps a connection open
// for up to 30 s.
const (
	asksByUser       = 10 // a minute, of all reports
	asksByRepository = 20 // a minute, by all users: a team opens a report at the same time
	asksAtOnce       = 3  // of a user: in several windows
)

// reportAsks bounds them. The zero value is ready.
type reportAsks struct {
	users        Allowances[account]
	repositories Allowances[repositoryAsked]

	mu       sync.Mutex
	underWay map[account]int
}

type repositoryAsked struct {
	connection string
	at         RepositoryRef
}

// begin counts a question about a repository until done is called.
// fault.RateLimited: there were too many.
func (a *reportAsks) begin(ctx context.Context, r *Report, now time.Time) (done func(), err error) {
	who := accountOf(identity.From(ctx))
	if !a.enter(who) {
		return nil, TooOften(time.Second, "You are waiting for %d answers of platforms already. Wait for them.", asksAtOnce)
	}
	if wait := a.users.Take(who, asksByUser, now); wait > 0 {
		a.leave(who)
		return nil, TooOften(wait, "You viewed or tested reports %d times within a minute. Wait a moment.", asksByUser)
	}
	if wait := a.repositories.Take(repositoryAsked{r.Connection, r.At().Folded()}, asksByRepository, now); wait > 0 {
		a.leave(who)
		return nil, TooOften(wait, "Reports of %s/%s were viewed or tested %d times within a minute. Wait a moment.", r.ProjectKey, r.RepositoryKey, asksByRepository)
	}
	return func() { a.leave(who) }, nil
}

func (a *reportAsks) enter(who account) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.underWay == nil {
		a.underWay = make(map[account]int)
	}
	if a.underWay[who] >= asksAtOnce {
		return false
	}
	a.underWay[who]++
	return true
}

func (a *reportAsks) leave(who account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.underWay[who]--; a.underWay[who] == 0 {
		delete(a.underWay, who)
	}
}

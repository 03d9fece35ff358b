package admin

import (
	"context"
	"errors"
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

// checkRepositoryTime is how long the caller who saves a report waits for the
// platform: one small answer.
const checkRepositoryTime = 5 * time.Second

// checkRepository asks the platform whether the repository of a new report
// exists. fault.Invalid: it says that there is none. What keeps it from saying is
// no error, since a platform that is away for a while must not keep people from
// saving: unchecked says it.
func (s *Reports) checkRepository(ctx context.Context, r *notify.Report) (unchecked string, err error) {
	c := s.Store.Platforms().Connections.Find(r.Connection)
	if c == nil || s.CheckRepository == nil {
		return "", nil
	}
	done, err := s.checks.begin(ctx, r, s.Clock())
	if err == nil {
		defer done()
		ctx, cancel := context.WithTimeout(ctx, checkRepositoryTime)
		defer cancel()
		err = s.CheckRepository(ctx, c, r.At())
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fault.Wrap(err, fault.Unavailable, "The platform did not answer in time.")
		}
	}
	switch {
	case err == nil:
		return "", nil
	case fault.Is(err, fault.NotFound):
		return "", fault.InvalidField("repositoryKey", "There is no repository %s/%s that the account may read. %s", r.ProjectKey,
			r.RepositoryKey, fault.As(err).Message)
	}
	if fault.Is(err, fault.RateLimited) {
		return "Whether the repository exists was not checked: too many reports were created within a minute.", nil
	}
	return "Whether the repository exists was not checked: " + fault.As(err).Message, nil
}

// askNowTime is how long the caller waits for the platform: 5,000 pull requests
// take 50 pages and some 10 s.
const askNowTime = 30 * time.Second

func (s *Reports) askNow(ctx context.Context, r *notify.Report) (*notify.Event, error) {
	done, err := s.asks.begin(ctx, r, s.Clock())
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, askNowTime)
	defer cancel()
	return s.Compose(ctx, r)
}

// Compose asks the platform for the open pull requests and returns the event that
// says what the report finds. It checks no permission: the runner calls it.
// Errors: fault.Unavailable where the platform does not answer.
func (s *Reports) Compose(ctx context.Context, r *notify.Report) (*notify.Event, error) {
	c := s.Store.Platforms().Connections.Find(r.Connection)
	if c == nil {
		return nil, fault.New(fault.Unavailable, "The connection %s no longer exists.", r.Connection)
	}
	open, err := s.Lister.OpenPullRequests(ctx, c, r.At())
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, fault.Wrap(err, fault.Unavailable, "%s did not list the open pull requests of %s/%s in time.", c.Name, r.ProjectKey,
			r.RepositoryKey)
	}
	if err != nil {
		return nil, err
	}
	now := s.Clock()
	return r.Event(r.Activity(open, now), s.PullRequests(c, r.At()), now), nil
}

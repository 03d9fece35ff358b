package admin

import (
	"context"
	"errors"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

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

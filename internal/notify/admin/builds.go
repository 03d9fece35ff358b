package admin

import (
	"cmp"
	"context"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
)

// Builds takes the builds of commits, both those that are posted here and those that
// the platform is asked for. There is an event for each change of the last state
// of a repository, commit and key, over both ways.
type Builds struct {
	Store *store.Store
	// Event makes an event of a build in a repository.
	Event func(c *notify.Connection, at notify.RepositoryRef, b notify.PlatformBuild) notify.Event
	Clock func() time.Time
}

// Post takes a build from a caller who administers the repository. Without a repository
// it is of every one in which an event named the commit, and which the caller
// administers; fault.NotFound where there is none.
func (s *Builds) Post(ctx context.Context, connection string, at notify.RepositoryRef, b notify.PlatformBuild) error {
	b.Commit = strings.ToLower(b.Commit)
	if err := s.Store.Renew(ctx); err != nil {
		return err
	}
	c := s.Store.Platforms().Connections.Find(connection)
	if c == nil {
		return identity.Missing(ctx, "There is no connection %q.", connection)
	}
	anywhere := at == notify.RepositoryRef{}
	if !anywhere {
		if err := identity.Require(ctx, identity.RepoAdmin, repositoryResource(connection, at)); err != nil {
			return err
		}
	}
	if c.Edition() == notify.Cloud {
		return fault.New(fault.Invalid, "A cloud platform reports builds by webhook: set the build status on the platform, and Outrigger "+
			"receives it.")
	}
	if err := b.ValidateAt(at); err != nil {
		return err
	}
	named, err := s.Store.NamedCommits(ctx, connection, b.Commit)
	if err != nil {
		return err
	}
	if !anywhere {
		return s.Take(ctx, c, commitIn(named, connection, at, b.Commit), b)
	}
	who, taken := identity.From(ctx), false
	for _, n := range named {
		if !who.May(identity.RepoAdmin, repositoryResource(connection, n.At)) {
			continue
		}
		if err := s.Take(ctx, c, n, b); err != nil {
			return err
		}
		taken = true
	}
	if !taken {
		return fault.New(fault.NotFound, "No event of a repository that you administer named the commit %s, or no rule there asks for "+
			"builds; name the repository in the path.", b.Commit)
	}
	return nil
}

func repositoryResource(connection string, at notify.RepositoryRef) identity.Resource {
	return identity.Resource{Connection: connection, Project: at.ProjectKey, Repository: at.RepositoryKey}
}

// commitIn returns the commit of a repository as an event named it, else as it
// can be had without.
func commitIn(named []notify.NamedCommit, connection string, at notify.RepositoryRef, hash string) notify.NamedCommit {
	for _, n := range named {
		if n.At.Folded() == at.Folded() {
			return n
		}
	}
	return notify.NamedCommit{Connection: connection, At: at, Hash: hash}
}

// acceptTime is how long a build waits until it is committed, as a webhook does.
const acceptTime = 10 * time.Second

// Take makes a build of a commit known, where it is news.
func (s *Builds) Take(ctx context.Context, c *notify.Connection, of notify.NamedCommit, b notify.PlatformBuild) error {
	now := s.Clock()
	e := s.Event(c, of.At, b)
	e.Connection, e.Branch, e.At = c.Name, cmp.Or(e.Branch, of.Branch), b.At
	if e.At.IsZero() {
		e.At = now
	}
	origin := identity.OriginOf(ctx)
	ctx, cancel := context.WithTimeout(ctx, acceptTime)
	defer cancel()
	return s.Store.Accept(ctx, &notify.Receipt{
		Connection: c.Name, Build: &b, Key: notify.BuildKey, Address: origin.Address, AnswerID: origin.RequestID,
		ReceivedAt: now, Outcome: notify.Understood, Events: []notify.Event{e},
	})
}

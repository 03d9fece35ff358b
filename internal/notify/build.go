package notify

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// PlatformBuild is a build as the platform has it.
type PlatformBuild struct {
	Build
	Ref    string    // of the build; "" where it was posted without one
	At     time.Time // when it was set; zero where the platform does not say
	Number string    // of the run; "" where it was not said
	Added  time.Time // the date of the run, by who says so; zero where it was not said
	Asked  bool      // the platform answered it; else its build server posted it
}

// BuildKey is the event key of builds, for which the platform has none.
const BuildKey = "build:status"

// buildStates are those of the platform.
var buildStates = []string{"SUCCESSFUL", "FAILED", "INPROGRESS", "CANCELLED", "UNKNOWN"}

// commitHash is an object name of Git, SHA-1 or SHA-256.
var commitHash = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Validate names every wrong member at once.
func (b *PlatformBuild) Validate() error {
	var f fault.Fields
	if !commitHash.MatchString(b.Commit) {
		f.Add("commit", "Write the whole hash of the commit: 40 or 64 digits and letters a to f.")
	}
	if !slices.Contains(buildStates, b.State) {
		f.Add("state", "%q is not a state of a build; use %s.", b.State, strings.Join(buildStates, ", "))
	}
	if b.Key == "" || !fits(b.Key) {
		f.Add("key", "A key has 1 to %d characters.", MaxName)
	}
	if !fits(b.Name) {
		f.Add("name", "Use at most %d characters.", MaxName)
	}
	if !fits(b.Number) {
		f.Add("buildNumber", "Use at most %d characters.", MaxName)
	}
	if !fits(b.Ref) {
		f.Add("ref", "A ref has at most %d characters.", MaxName)
	}
	if u, err := url.Parse(b.URL); b.URL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(b.URL) > maxBuildURL) {
		f.Add("url", "Write the page of the build as https://host/path, in at most %d bytes.", maxBuildURL)
	}
	return f.Err()
}

// maxBuildURL is what every browser and chat client takes.
const maxBuildURL = 2000

// BuildStore keeps the events of builds, and the commits that events named;
// *store.Store.
type BuildStore interface {
	PlatformStore
	// NamedCommits returns the repositories in which events named a commit.
	NamedCommits(ctx context.Context, connection, hash string) ([]NamedCommit, error)
	// Accept makes the event durable, unless it was there before.
	Accept(ctx context.Context, r *Receipt) error
}

// Builds takes the builds of commits, from those who post them and from who
// asks the platform for them. There is an event for each change of the last state
// of a repository, commit and key, over both ways.
type Builds struct {
	Store BuildStore
	// Event makes an event of a build in a repository.
	Event func(c *Connection, at RepositoryRef, b PlatformBuild) Event
	Clock func() time.Time
}

// Post takes a build from who administers the repository. Without a repository
// it is of every one in which an event named the commit, and which who asks
// administers; fault.NotFound where there is none.
func (s *Builds) Post(ctx context.Context, connection string, at RepositoryRef, b PlatformBuild) error {
	b.Commit = strings.ToLower(b.Commit)
	if err := s.Store.Renew(ctx); err != nil {
		return err
	}
	c := s.Store.Platforms().Connections.Find(connection)
	if c == nil {
		return identity.Missing(ctx, "There is no connection %q.", connection)
	}
	anywhere := at == RepositoryRef{}
	if !anywhere {
		if err := identity.Require(ctx, identity.RepoAdmin, repositoryResource(connection, at)); err != nil {
			return err
		}
	}
	if c.Edition() == Cloud {
		return fault.New(fault.Invalid, "A cloud platform reports builds by webhook: set the build status on the platform, and Outrigger receives it.")
	}
	if err := b.validateAt(at); err != nil {
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
		return fault.New(fault.NotFound, "No event of a repository of yours named the commit %s, or no rule there asks for builds; name the repository in the path.", b.Commit)
	}
	return nil
}

func repositoryResource(connection string, at RepositoryRef) identity.Resource {
	return identity.Resource{Connection: connection, Project: at.ProjectKey, Repository: at.RepositoryKey}
}

func (b *PlatformBuild) validateAt(at RepositoryRef) error {
	var f fault.Fields
	for field, key := range map[string]string{"projectKey": at.ProjectKey, "repositoryKey": at.RepositoryKey} {
		if checkKey(&f, field, key); !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) {
			f.Add(field, "%q is not a key.", key)
		}
	}
	if err := f.Join(b.Validate()); err != nil {
		return err
	}
	return f.Err()
}

// commitIn returns the commit of a repository as an event named it, else as it
// can be had without.
func commitIn(named []NamedCommit, connection string, at RepositoryRef, hash string) NamedCommit {
	for _, n := range named {
		if n.At.Folded() == at.Folded() {
			return n
		}
	}
	return NamedCommit{Connection: connection, At: at, Hash: hash}
}

// acceptTime is how long a build waits for its commit, as a webhook does.
const acceptTime = 10 * time.Second

// Take makes a build of a commit known, where it is news.
func (s *Builds) Take(ctx context.Context, c *Connection, of NamedCommit, b PlatformBuild) error {
	now := s.Clock()
	e := s.Event(c, of.At, b)
	e.Connection, e.Branch, e.At = c.Name, cmp.Or(e.Branch, of.Branch), b.At
	if e.At.IsZero() {
		e.At = now
	}
	origin := identity.OriginOf(ctx)
	ctx, cancel := context.WithTimeout(ctx, acceptTime)
	defer cancel()
	return s.Store.Accept(ctx, &Receipt{
		Connection: c.Name, Build: &b, Key: BuildKey, Address: origin.Address, AnswerID: origin.RequestID,
		ReceivedAt: now, Outcome: Understood, Events: []Event{e},
	})
}

// AnswersBuilds reports whether the connection's platform can be asked for builds:
// any account of a self-hosted one may.
func (c *Connection) AnswersBuilds() bool {
	return c.Edition() == SelfHosted && !c.Token.IsZero()
}

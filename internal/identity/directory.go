package identity

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/singleflight"

	"outrigger/internal/cache"
	"outrigger/internal/limit"
)

// Directory is the users of a platform, and what they administer there. Both
// methods answer Unavailable where the platform does not say.
type Directory interface {
	// SignIn returns the user who shows the password, which it does not keep, and
	// what they administer. Unauthenticated: name or password is wrong, or, with a
	// cause for the log, the answer does not prove that they are right.
	SignIn(ctx context.Context, name, password string) (DirectoryUser, error)
	// CurrentGrants returns what the user of that exact name has now: Admin, or those of
	// the candidates that they administer. Unauthenticated: there is no such user.
	CurrentGrants(ctx context.Context, name string, candidates []Grant) ([]Grant, error)
}

// DirectoryUser is a user as a platform knows them.
type DirectoryUser struct {
	Name       string  // as the platform writes it
	Candidates []Grant // the projects and repositories that they administer
	More       bool    // there are more than that, which are left out
}

const (
	// presentFor is how long an answer about a user's rights holds: a right that
	// is lost on the platform is lost here within it.
	presentFor = 60 * time.Second
	// directoryPatience is how long a request waits for the platform.
	directoryPatience = 10 * time.Second
	// maxSigningIn is how many sign-ins the platform is asked about at once, so
	// that a flood of guesses is not handed on to it.
	maxSigningIn = 8
	// maxCurrentGrants bounds the memory; more users than this are not active within a
	// minute.
	maxCurrentGrants = 4096
)

// platform is where users come from who are not local.
type platform struct {
	source string // the connection's name
	Directory
	limiter *limit.Fair[string]          // by address
	asking  singleflight.Group           // by user
	current *cache.Cache[int64, []Grant] // by user
}

// UseDirectory has names that are of no local user be looked up in d, the users
// of the platform of a connection. It must be called before any user signs in.
func (s *Service) UseDirectory(connection string, d Directory) {
	s.platform = &platform{
		source: connection, Directory: d, limiter: newLimiter(maxSigningIn),
		current: cache.New[int64, []Grant](s.now, presentFor, maxCurrentGrants),
	}
}

// knows reports whether the platform is asked about a sign-in: for names of no
// local user, u being who has the name here.
func (p *platform) knows(u User, name, password string) bool {
	return p != nil && (u.ID == 0 || u.Source == p.source) && name != "" && password != "" &&
		utf8.RuneCountInString(name) <= maxName && utf8.ValidString(name) && !strings.ContainsFunc(name, unacceptable)
}

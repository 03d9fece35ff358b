package identity

import (
	"context"
	"strings"
	"time"

	"outrigger/internal/fault"
)

// Permission is what a user may do, from everything to one repository.
type Permission string

const (
	SysAdmin     Permission = "SYS_ADMIN"     // everything; only by a local grant
	Admin        Permission = "ADMIN"         // global rules, settings, reports, and every project
	ProjectAdmin Permission = "PROJECT_ADMIN" // one project of one connection, and its repositories
	RepoAdmin    Permission = "REPO_ADMIN"    // one repository of one connection
)

// Permissions lists every permission, the widest first.
func Permissions() []Permission { return []Permission{SysAdmin, Admin, ProjectAdmin, RepoAdmin} }

// Resource is the place that a permission is about. The zero value is everywhere.
type Resource struct {
	Connection string `json:"connection,omitempty" doc:"For PROJECT_ADMIN and REPO_ADMIN, and only there."` // the platform's name here, exact
	Project    string `json:"projectKey,omitempty" doc:"For PROJECT_ADMIN and REPO_ADMIN, and only there."` // key, compared without case
	Repository string `json:"repositoryKey,omitempty" doc:"For REPO_ADMIN, and only there."`                // slug, compared without case
}

// same reports whether both name the same project, and repository where deep.
// A place that is not named is no place: it never is the same as another.
func (w Resource) same(o Resource, deep bool) bool {
	if w.Connection != o.Connection || w.Project == "" || !strings.EqualFold(w.Project, o.Project) {
		return false
	}
	return !deep || w.Repository != "" && strings.EqualFold(w.Repository, o.Repository)
}

// covers reports whether a holder of g has perm at the place.
func (g Grant) covers(perm Permission, at Resource) bool {
	switch g.Permission {
	case SysAdmin:
		return true
	case Admin:
		return perm != SysAdmin
	case ProjectAdmin:
		return (perm == ProjectAdmin || perm == RepoAdmin) && g.Resource.same(at, false)
	case RepoAdmin:
		return perm == RepoAdmin && g.Resource.same(at, true)
	}
	return false
}

// Scope limits what a token may be used for.
type Scope string

const (
	All        Scope = "all"        // whatever its owner may do
	Read       Scope = "read"       // GET and HEAD, but not the whole database
	Backup     Scope = "backup"     // taking backups of the whole database
	Monitoring Scope = "monitoring" // the mail queue endpoints, what needs attention, and /metrics
	Builds     Scope = "builds"     // posting build statuses
	Mail       Scope = "mail"       // SMTP AUTH
)

// Scopes lists every scope, the widest first.
func Scopes() []Scope { return []Scope{All, Read, Backup, Monitoring, Builds, Mail} }

// Local is the source of users that live in this program's database. Those of
// a platform have that connection's name, those of an OpenID Connect provider
// SingleSignOn: the platform's admin is not the local one.
const Local = "local"

// Principal is the user who asks, by password, session or token.
type Principal struct {
	UserID  int64
	Name    string // as it was created, whatever the case of what was typed
	Source  string // Local, a connection or SingleSignOn
	Scope   Scope  // All, but for a token with a narrower one
	Grants  []Grant
	Token   int64 // id of the token that was shown, 0 for none
	Session int64 // id of the session that was shown, 0 for none
	Pause   Pause // of the user

	ConfirmedAt time.Time // when the session, or the request, was last confirmed with the password or a second factor
	EnrolsUntil time.Time // until when the session may set up the first second factor; zero: it may not
}

// Ref names the principal's user, as User, Tokens and the like take it.
func (p *Principal) Ref() string { return refOf(p.Source, p.Name) }

// May reports whether the principal has perm at the place; a wider permission
// includes the narrower. A nil principal has no permissions. The scope of a token is
// not looked at: it is about routes, and the router has held it already.
func (p *Principal) May(perm Permission, at Resource) bool {
	if p == nil {
		return false
	}
	for _, g := range p.Grants {
		if g.covers(perm, at) {
			return true
		}
	}
	return false
}

// Require is nil when the caller in ctx has perm at the place, else
// Unauthenticated or Forbidden.
func Require(ctx context.Context, perm Permission, at Resource) error {
	return From(ctx).Require(perm, at)
}

// Require is Require for a principal that is known; nil is not signed in.
func (p *Principal) Require(perm Permission, at Resource) error {
	switch {
	case p == nil:
		return ErrUnauthenticated()
	case !p.May(perm, at):
		return errForbidden()
	}
	return nil
}

// Missing is the answer for a thing that does not exist: NotFound with the
// message for a SYS_ADMIN. Others get what they get for a thing that is not
// theirs, so that they cannot find out which of the two it is.
func Missing(ctx context.Context, format string, args ...any) error {
	if From(ctx).May(SysAdmin, Resource{}) {
		return fault.New(fault.NotFound, format, args...)
	}
	return errForbidden()
}

func errForbidden() error {
	return fault.New(fault.Forbidden, "You do not have permission to do this. Ask an administrator.")
}

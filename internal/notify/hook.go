package notify

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// Hook is where events of a connection come in: /hooks/{connection}/{hook}.
// A sender who knows its secret is believed about its scope, and about nothing
// else.
type Hook struct {
	ID         int64 // 0: the connection's own, of the configuration file
	Connection string
	Name       string // "": the connection's own, at /hooks/{connection}
	Scope      Scope

	Secret        secret.Value
	Previous      secret.Value // the one before the last rotation
	PreviousUntil time.Time    // until when that still signs

	CreatedBy string
	CreatedAt time.Time
	RotatedBy string // "" and zero: the secret is the first
	RotatedAt time.Time

	more    []secret.Value // of the configuration file
	Offered []KeyChange    // renames out of the scope that wait for an administrator's word
}

// PreviousHolds is how long the old secret signs after a rotation: a week to
// change it on the platform.
const PreviousHolds = 7 * 24 * time.Hour

// Scope is what events of a hook may be about: all of a platform, a project, or a
// repository.
type Scope = RepositoryRef

// Holds reports whether all of o is in the scope. Keys are compared without case.
func (s Scope) Holds(o Scope) bool {
	switch {
	case s.ProjectKey == "":
		return true
	case Fold(s.ProjectKey) != Fold(o.ProjectKey):
		return false
	}
	return s.RepositoryKey == "" || Fold(s.RepositoryKey) == Fold(o.RepositoryKey)
}

// String names the scope for people.
func (s Scope) String() string {
	switch {
	case s.ProjectKey == "":
		return "everything"
	case s.RepositoryKey == "":
		return "project " + s.ProjectKey
	}
	return s.ProjectKey + "/" + s.RepositoryKey
}

// Secrets are those that sign at a time.
func (h *Hook) Secrets(now time.Time) []secret.Value {
	keys := slices.Clip(h.more) // which is not appended to
	if !h.Secret.IsZero() {
		keys = append(keys, h.Secret)
	}
	if h.PreviousSigns(now) {
		keys = append(keys, h.Previous)
	}
	return keys
}

// SecretLost reports whether the hook's secret was encrypted with a key that is lost:
// the hook refuses webhooks until it is rotated.
func (h *Hook) SecretLost() bool { return h.ID != 0 && h.Secret.IsZero() }

// PreviousSigns reports whether the secret before the last rotation still signs.
func (h *Hook) PreviousSigns(now time.Time) bool {
	return !h.Previous.IsZero() && now.Before(h.PreviousUntil)
}

// Validate names every wrong member at once.
func (h *Hook) Validate() error {
	var f fault.Fields
	checkShortName(&f, "name", h.Name)
	if h.Scope.ProjectKey == "" && h.Scope.RepositoryKey != "" {
		f.Add("projectKey", "A repositoryKey needs its projectKey too.")
	}
	ValidateKey(&f, "projectKey", h.Scope.ProjectKey)
	ValidateKey(&f, "repositoryKey", h.Scope.RepositoryKey)
	return f.Err()
}

// scopeVerdict says how an event relates to the scope of the hook that it came
// in by.
type scopeVerdict int

const (
	inside   scopeVerdict = iota // it is in the scope
	withheld                     // it is under a key that a rename offered: kept, and nothing is delivered
	outside                      // it is outside the scope
)

// judge says what an event is to the hook. A rename is inside where either key
// is, and withheld where only the old one is.
func (h *Hook) judge(e *Event) scopeVerdict {
	at := Scope{e.Project.Key, e.Repository.Key}
	if h.Scope.Holds(at) && (at.ProjectKey != "" || h.Scope.ProjectKey == "") {
		return inside
	}
	if by, ok := e.KeyChange(); ok && h.MayOffer(by) {
		return withheld
	}
	for i := range h.Offered {
		if h.Offered[i].To.Holds(at) {
			return withheld
		}
	}
	return outside
}

// MayOffer reports whether the hook may say a rename at all: it must be of a key
// in its scope, or of one that it offered.
func (h *Hook) MayOffer(by KeyChange) bool {
	_, again := h.offers(by.From)
	return again || h.Scope.Holds(by.From)
}

// offers reports whether a key outside the scope is the new one of an offered
// rename, and returns the old one.
func (h *Hook) offers(key Scope) (from Scope, ok bool) {
	if h.Scope.Holds(key) {
		return from, false
	}
	for i := range h.Offered {
		if h.Offered[i].To == key {
			return h.Offered[i].From, true
		}
	}
	return from, false
}

// HookPath is where the webhooks of a hook come in; hook is "" for the
// connection's own.
func HookPath(connection, hook string) string {
	path := "/hooks/" + url.PathEscape(connection)
	if hook != "" {
		path += "/" + url.PathEscape(hook)
	}
	return path
}

// Audited is what the audit trail keeps of a hook: of its secret only a
// fingerprint, so that a rotation shows.
func (h *Hook) Audited() map[string]string {
	if h == nil {
		return nil
	}
	return map[string]string{
		"projectKey": h.Scope.ProjectKey, "repositoryKey": h.Scope.RepositoryKey,
		"secret": fmt.Sprintf("%x", secret.Fingerprint(h.Secret.Reveal())[:4]),
	}
}

// Access is the permission that a hook of this scope needs, and where.
func (h *Hook) Access() (identity.Permission, identity.Resource) {
	at := identity.Resource{Connection: h.Connection, Project: h.Scope.ProjectKey, Repository: h.Scope.RepositoryKey}
	switch {
	case at.Project == "":
		return identity.SysAdmin, identity.Resource{}
	case at.Repository == "":
		return identity.ProjectAdmin, at
	}
	return identity.RepoAdmin, at
}

package bitbucket

import (
	"net/http"

	"outrigger/internal/playground/played"
)

// The faults that this platform has, under its own name.
type (
	Kind  = played.Kind
	Fault = played.Fault
)

const (
	Endless     = played.Endless
	Inventing   = played.Inventing
	Repeating   = played.Repeating
	Standing    = played.Standing
	Ragged      = played.Ragged
	Overlapping = played.Overlapping
	Nulling     = played.Nulling
	Refusing    = played.Refusing
	Forbidding  = played.Forbidding
	Withholding = played.Withholding
	Throttling  = played.Throttling
	Broken      = played.Broken
	Missing     = played.Missing
	Proxied     = played.Proxied
	Garbling    = played.Garbling
	Chattering  = played.Chattering
	Redirecting = played.Redirecting
	Silent      = played.Silent
	Dropping    = played.Dropping
)

// SetFault is Faults.Set.
func (p *Platform) SetFault(at string, f Fault) { p.faults.Set(at, f) }

// refuse words the statuses of faults.
func (a *asking) refuse(kind Kind) {
	switch kind {
	case Refusing:
		a.fail(http.StatusUnauthorized, "AuthenticationException", "Authentication failed. Please check your credentials and try again.")
	case Forbidding:
		a.fail(http.StatusForbidden, "AuthorisationException", "You are not permitted to access this resource")
	case Withholding:
		a.fail(http.StatusUnauthorized, "AuthorisationException", "You are not permitted to access this resource")
	case Throttling:
		a.fail(http.StatusTooManyRequests, "ratelimit.RateLimitedException", "Rate limit exceeded")
	case Broken:
		a.fail(http.StatusInternalServerError, "ServerException", "An error occurred while processing the request.")
	case Missing:
		a.fail(http.StatusNotFound, "NoSuchEntityException", "There is no such resource.")
	}
}

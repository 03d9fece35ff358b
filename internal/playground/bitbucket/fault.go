package bitbucket

import (
	"net/http"

	"outrigger/internal/playground/faults"
)

// The faults that this platform has, under its own name.
type (
	Kind  = faults.Kind
	Fault = faults.Fault
)

const (
	Endless     = faults.Endless
	Inventing   = faults.Inventing
	Repeating   = faults.Repeating
	Standing    = faults.Standing
	Ragged      = faults.Ragged
	Overlapping = faults.Overlapping
	Nulling     = faults.Nulling
	Refusing    = faults.Refusing
	Forbidding  = faults.Forbidding
	Withholding = faults.Withholding
	Throttling  = faults.Throttling
	Broken      = faults.Broken
	Missing     = faults.Missing
	Proxied     = faults.Proxied
	Garbling    = faults.Garbling
	Chattering  = faults.Chattering
	Redirecting = faults.Redirecting
	Silent      = faults.Silent
	Dropping    = faults.Dropping
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

package playgroundtest

import (
	"net/http"
	"strconv"

	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/respond"
)

// Bitbucket is a self-hosted platform with faults.
type Bitbucket struct {
	*bitbucket.Platform
	Front
}

// NewBitbucket makes a platform that works.
func NewBitbucket(o bitbucket.Options) *Bitbucket { return &Bitbucket{Platform: bitbucket.New(o)} }

// Handler serves the platform at the root of a server.
func (p *Bitbucket) Handler() http.Handler {
	return p.before(server{p.Platform.Handler(), refuseBitbucket, spoilBitbucket})
}

func refuseBitbucket(w http.ResponseWriter, _ *http.Request, kind Kind) {
	refusal := map[Kind]struct {
		status             int
		exception, message string
	}{
		Refusing: {http.StatusUnauthorized, "AuthenticationException",
			"Authentication failed. Please check your credentials and try again."},
		Forbidding:  {http.StatusForbidden, "AuthorisationException", "You are not permitted to access this resource"},
		Withholding: {http.StatusUnauthorized, "AuthorisationException", "You are not permitted to access this resource"},
		Throttling:  {http.StatusTooManyRequests, "ratelimit.RateLimitedException", "Rate limit exceeded"},
		Broken:      {http.StatusInternalServerError, "ServerException", "An error occurred while processing the request."},
		Missing:     {http.StatusNotFound, "NoSuchEntityException", "There is no such resource."},
	}[kind]
	respond.JSON(w, refusal.status, map[string]any{"errors": []any{map[string]any{
		"context": nil, "message": refusal.message, "exceptionName": "com.atlassian.bitbucket." + refusal.exception,
	}}})
}

func spoilBitbucket(kind Kind, page map[string]any, r *http.Request, again func(query ...string) map[string]any) {
	start, limit := whole(r.URL.Query().Get("start"), 0), whole(page["limit"], 25)
	switch kind {
	case Endless: // a further page with nothing new, for ever
		page["isLastPage"], page["nextPageStart"] = false, start+limit
	case Inventing:
		page["isLastPage"], page["nextPageStart"], page["size"] = false, start+1, 1
		page["values"] = []any{map[string]any{"name": "user " + strconv.Itoa(start), "key": "P" + strconv.Itoa(start), "id": start + 1}}
	case Overlapping:
		if start > 0 {
			before := again("start", strconv.Itoa(start-1), "limit", "1")["values"].([]any)
			page["values"] = append(before, page["values"].([]any)...)
		}
	case Nulling:
		page["values"] = nulled(page["values"])
	case Repeating: // the first page again and again
		first := again("start", "0")
		page["isLastPage"], page["nextPageStart"], page["size"], page["values"] = false, start+limit, first["size"], first["values"]
	case Standing: // the next page is this one
		page["isLastPage"], page["nextPageStart"] = false, start
	case Ragged: // there is more, and it does not say where
		page["isLastPage"] = false
		delete(page, "nextPageStart")
	}
}

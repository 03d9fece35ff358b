package playgroundtest

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/respond"
)

// Cloud is a cloud platform with faults.
type Cloud struct {
	*bitbucketcloud.Platform
	Front
}

// NewCloud makes a platform that works.
func NewCloud(o bitbucketcloud.Options) *Cloud { return &Cloud{Platform: bitbucketcloud.New(o)} }

// Handler serves the platform at the root of a server.
func (p *Cloud) Handler() http.Handler {
	return p.before(server{p.Platform.Handler(), refuseCloud, spoilCloud})
}

func refuseCloud(w http.ResponseWriter, r *http.Request, kind Kind) {
	fail := func(status int, message string) {
		respond.JSON(w, status, map[string]any{"type": "error", "error": map[string]any{"message": message}})
	}
	switch kind {
	case Refusing:
		if strings.HasPrefix(r.URL.Path, "/site/") {
			respond.JSON(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"}) // as RFC 6749 5.2 has it
			return
		}
		fail(http.StatusUnauthorized, "Token is invalid, expired, or not supported for this endpoint.")
	case Forbidding:
		fail(http.StatusForbidden, "Your credentials do not have access to this resource.")
	case Withholding:
		respond.JSON(w, http.StatusForbidden, map[string]any{"type": "error", "error": map[string]any{
			"message": "Your credentials lack one or more required privilege scopes.",
			"detail":  map[string]any{"required": []string{"pullrequest"}, "granted": []string{"account"}},
		}})
	case Throttling:
		w.WriteHeader(http.StatusTooManyRequests) // one line of plain text
		_, _ = w.Write([]byte("Rate limit for this resource has been exceeded"))
	case Broken:
		fail(http.StatusInternalServerError, "Something went wrong")
	case Missing:
		fail(http.StatusNotFound, "There is no API hosted at this URL.")
	}
}

func spoilCloud(kind Kind, page map[string]any, r *http.Request, again func(query ...string) map[string]any) {
	number := whole(r.URL.Query().Get("page"), 1)
	link := func(page int) string {
		query := url.Values{}
		for name, values := range r.URL.Query() {
			query[name] = values
		}
		query.Set("page", strconv.Itoa(page))
		return "http://" + r.Host + r.URL.EscapedPath() + "?" + query.Encode()
	}
	switch kind {
	case Endless: // a further page with nothing on it, for ever
		page["values"], page["next"] = []any{}, link(number+1)
	case Inventing:
		id := strconv.Itoa(number)
		page["values"] = []any{map[string]any{"id": number, "title": "Invented", "uuid": "{" + id + "}", "event": "invented:" + id}}
		page["next"] = link(number + 1)
	case Repeating: // the first page again and again
		page["values"], page["next"] = again("page", "1")["values"], link(number+1)
	case Standing:
		page["next"] = link(number)
	case Ragged:
		delete(page, "values")
	case Overlapping:
		if before, _ := again("page", strconv.Itoa(number-1))["values"].([]any); len(before) > 0 {
			page["values"] = append(before[len(before)-1:], page["values"].([]any)...)
		}
	case Elsewhere:
		page["next"] = "https://api.example.net" + r.URL.Path + "?page=2"
	case Nulling:
		page["values"] = nulled(page["values"])
	}
}

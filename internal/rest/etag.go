package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// ETag names a version of a thing that has an id.
func ETag(id, version int64) string { return fmt.Sprintf(`"%d-%d"`, id, version) }

// Conditional reports whether the request asks for IfMatch.
func Conditional(r *http.Request) bool { return len(r.Header["If-Match"]) > 0 }

// MatchesAny reports whether the If-Match of a request names no version, but anything
// that is there.
func MatchesAny(r *http.Request) bool { return slices.Contains(matches(r), "*") }

// MatchedVersion returns the highest version of the thing with an id that the If-Match
// of a request names; 0 where it names none.
func MatchedVersion(r *http.Request, id int64) (version int64) {
	for _, tag := range matches(r) {
		var of, v int64
		if n, _ := fmt.Sscanf(tag, `"%d-%d"`, &of, &v); n == 2 && of == id && tag == ETag(of, v) {
			version = max(version, v)
		}
	}
	return version
}

// matches are the ETags that If-Match names. Ours have no comma.
func matches(r *http.Request) []string {
	tags := strings.Split(strings.Join(r.Header["If-Match"], ","), ",")
	for i := range tags {
		tags[i] = strings.TrimSpace(tags[i])
	}
	return tags
}

// checkIfMatch refuses to change a version of what has none: who sends If-Match wants
// no change of anything else.
func (rt *Route) checkIfMatch(r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	if rt.Conditional || rt.Raw || !Conditional(r) || MatchesAny(r) {
		return nil
	}
	return &httpError{http.StatusPreconditionFailed, "Nothing here has an ETag that If-Match could name, so nothing was changed. Leave If-Match out."}
}

// IfMatch is nil when the request has no If-Match, or one that names the thing
// as it is now (RFC 9110, 13.1.1); else the answer is 412. current is its ETag,
// "" where there is no such thing; saved says who saved it last, and when, as in
// "ada saved version 7 at 2026-01-02T15:04:05Z".
func IfMatch(r *http.Request, current, saved string) error {
	if !Conditional(r) {
		return nil
	}
	// A weak tag never matches.
	if current != "" && (MatchesAny(r) || slices.Contains(matches(r), current)) {
		return nil
	}
	if current == "" {
		return &httpError{http.StatusPreconditionFailed, "There is nothing yet that If-Match could name. Leave it out to create something."}
	}
	return &httpError{http.StatusPreconditionFailed, "It was changed meanwhile: " + saved + ", and If-Match does not name that version. Read it again and repeat your change."}
}

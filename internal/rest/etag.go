package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// ETag names a version of a thing that has an id.
func ETag(id, version int64) string { return fmt.Sprintf(`"%d-%d"`, id, version) }

// Match is the header If-Match of a request. The zero Match is that of a request
// that has none.
type Match struct{ tags []string }

// matchOf reads the If-Match of a request.
func matchOf(r *http.Request) (m Match) {
	if given := r.Header["If-Match"]; len(given) > 0 {
		m.tags = strings.Split(strings.Join(given, ","), ",") // our tags have no comma
	}
	for i := range m.tags {
		m.tags[i] = strings.TrimSpace(m.tags[i])
	}
	return m
}

// IsGiven reports whether the request asks for Check.
func (m Match) IsGiven() bool { return len(m.tags) > 0 }

// Any reports whether no version is named, but anything that is there.
func (m Match) Any() bool { return slices.Contains(m.tags, "*") }

// Version returns the highest version that is named of the thing with an id; 0 where
// none is.
func (m Match) Version(id int64) (version int64) {
	for _, tag := range m.tags {
		var of, v int64
		if n, _ := fmt.Sscanf(tag, `"%d-%d"`, &of, &v); n == 2 && of == id && tag == ETag(of, v) {
			version = max(version, v)
		}
	}
	return version
}

// Check is nil when the request has no If-Match, or one that names the thing
// as it is now (RFC 9110, 13.1.1); else the answer is 412. current is its ETag,
// "" where there is no such thing; saved says who saved it last, and when, as in
// "ada saved version 7 at 2026-01-02T15:04:05Z".
func (m Match) Check(current, saved string) error {
	switch {
	case !m.IsGiven():
		return nil
	case current == "":
		return &httpError{http.StatusPreconditionFailed, "There is nothing yet that If-Match could name. Leave it out to create something."}
	case m.Any() || slices.Contains(m.tags, current): // a weak tag never matches
		return nil
	}
	return &httpError{http.StatusPreconditionFailed, "It was changed meanwhile: " + saved + ", and If-Match does not name that version. " +
		"Read it again and repeat your change."}
}

// checkIfMatch refuses to change a version of what has none: who sends If-Match wants
// no change of anything else.
func (rt *Route) checkIfMatch(r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	if match := matchOf(r); rt.Conditional || rt.Raw || !match.IsGiven() || match.Any() {
		return nil
	}
	return &httpError{http.StatusPreconditionFailed, "Nothing here has an ETag that If-Match could name, so nothing was changed. Leave " +
		"If-Match out."}
}

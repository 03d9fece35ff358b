package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"outrigger/internal/fault"
	"outrigger/internal/phrase"
)

// paged are the parameters of a list that has pages: its own, then limit and
// after, which readPage reads.
func paged(own ...string) []string { return append(own, "limit", "after") }

// isText reports whether s is UTF-8 without U+0000: PostgreSQL keeps nothing else
// as text, and answers a query about it with an error.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// TextValues reports whether every value in a query is a text.
func TextValues(query url.Values) bool {
	for _, values := range query {
		if slices.ContainsFunc(values, func(v string) bool { return !isText(v) }) {
			return false
		}
	}
	return true
}

// checkQuery refuses parameters that the route does not take, those that are no
// text, and those that are given twice: a misspelt filter would filter nothing,
// and of two values one would be left out without a word.
func checkQuery(r *http.Request, route *Route) error {
	if r.URL.RawQuery == "" || route.Raw || !strings.HasPrefix(route.Path, "/rest/") {
		return nil // a platform's webhook and a scraper may add their own
	}
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "The query string is malformed. Write name=value&name=value, with special characters as %%XX.")
	}
	var wrong fault.Fields
	known := route.Query
	names := make([]string, 0, len(given))
	for name := range given {
		if !slices.Contains(ignored, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case !slices.Contains(known, name):
			wrong.Add(name, "Unknown parameter %q; %s", name, takes(known))
		case len(given[name]) > 1:
			wrong.Add(name, "%s is given %d times; give it once.", name, len(given[name]))
		case !isText(given[name][0]):
			wrong.Add(name, "%s is not UTF-8, or has the character U+0000.", name)
		}
	}
	return wrong.Err()
}

// takes says which parameters there are.
func takes(known []string) string {
	switch len(known) {
	case 0:
		return "there are none."
	case 1:
		return "there is " + known[0] + "."
	}
	return "there are " + phrase.List(known) + "."
}

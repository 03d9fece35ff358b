package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"outrigger/internal/fault"
)

// queries are the parameters that routes take, those of others none; a test
// holds them against the description of the API.
var queries = map[string][]string{
	"GET /rest/mtbs/1.0/configuration/filter":                    {"projectKey", "repositoryKey", "repositorySlug", "connection", "id"},
	"DELETE /rest/mtbs/1.0/configuration/filter":                 {"id"},
	"PUT /rest/mtbs/1.0/configuration/filter/enabled":            {"id", "enabled"},
	"GET /rest/mtbs/1.0/configuration/events":                    {"connection", "projectKey", "repositoryKey", "repositorySlug", "eventType", "outcome", "since", "until", "limit", "after"},
	"GET /rest/mtbs/1.0/configuration/events/{id}/explain":       {"limit", "after"},
	"GET /rest/mtbs/1.0/configuration/preview":                   {"eventType", "format"},
	"GET /rest/mtbs/1.0/configuration/deliveries":                {"filterId", "state", "limit", "after"},
	"POST /rest/mtbs/1.0/configuration/deliveries/redeliver":     {"id", "filterId", "state"},
	"POST /rest/mtbs/1.0/configuration/deliveries/cancel":        {"id", "filterId"},
	"POST /rest/mtbs/1.0/configuration/deliveries/try":           {"id"},
	"GET /rest/mtbs/1.0/configuration/channels":                  {"limit", "after"},
	"POST /rest/mtbs/1.0/configuration/channels/{channel}/retry": {"which"},
	"GET /rest/outrigger/1.0/connections":                        {"limit", "after"},
	"GET /rest/outrigger/1.0/connections/{name}/hooks":           {"limit", "after"},
	"GET /rest/outrigger/1.0/connections/{name}/webhooks":        {"limit", "after"},
	"GET /rest/outrigger/1.0/renames":                            {"limit", "after"},
	"GET /rest/outrigger/1.0/mail/messages":                      {"node", "state", "sender", "recipient", "subject", "age", "limit", "after"},
	"GET /rest/threaded-comments/1.0/migration/export-data":      {"offset", "limit"},
	"GET /rest/migration/latest/report/id-mappings":              {"cloudSiteUrl", "invalidateCache"},
	"POST /rest/threaded-comments/1.0/source/mirror":             {"acceptRemoval"},
	"POST /rest/threaded-comments/1.0/source/mappings":           {"cloudSiteUrl"},
	"DELETE /rest/threaded-comments/1.0/source/mappings":         {"cloudSiteUrl"},
	"POST /rest/threaded-comments/1.0/migration/upload":          {"acceptIncomplete"},
	"GET /rest/threaded-comments/1.0/migration/errors":           {"limit", "after"},
	"POST /rest/threaded-comments/1.0/migration/restore":         {"mode"},
	"GET /rest/outrigger/1.0/audit":                              {"who", "area", "action", "object", "since", "until", "limit", "after"},
	"GET /rest/outrigger/1.0/audit/export":                       {"who", "area", "action", "object", "since", "until"},
	"GET /rest/mtbs/1.0/configuration/audit":                     {"who", "action", "object", "since", "until", "limit", "after"},
	"GET /rest/outrigger/1.0/users":                              {"limit", "after"},
	"GET /rest/outrigger/1.0/tokens":                             {"user", "limit", "after"},
	"GET /rest/outrigger/1.0/sessions":                           {"user", "limit", "after"},
}

// QueryOf gives the names of a route's query parameters.
func QueryOf(route Route) []string { return queries[route.Method+" "+route.Path] }

// checkQuery refuses parameters that the route does not take, and those that
// are given twice: a misspelt filter would filter nothing, and of two values one
// would be left out without a word.
func checkQuery(r *http.Request, route *Route) error {
	if r.URL.RawQuery == "" || route.Raw || !strings.HasPrefix(route.Path, "/rest/") {
		return nil // a platform's webhook and a scraper may add their own
	}
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "The query of the URL is malformed; write name=value&name=value, with what is special as %%XX.")
	}
	var wrong fault.Fields
	known := QueryOf(*route)
	names := make([]string, 0, len(given))
	for name := range given {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case !slices.Contains(known, name):
			wrong.Add(name, "There is no parameter %q here; %s", name, takes(known))
		case len(given[name]) > 1:
			wrong.Add(name, "%s is given %d times; give it once.", name, len(given[name]))
		}
	}
	return wrong.Err()
}

// takes says which parameters there are.
func takes(known []string) string {
	switch n := len(known); n {
	case 0:
		return "there are none."
	case 1:
		return "there is " + known[0] + "."
	default:
		return "there are " + strings.Join(known[:n-1], ", ") + " and " + known[n-1] + "."
	}
}

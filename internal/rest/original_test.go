package rest

import (
	"net/http"
	"strings"
	"testing"
)

// Requests as clients of the host application send them reach the same endpoints:
// with parameters of its own, a trailing slash, and latest for the version.
func TestHabitsOfTheHostApplicationsClients(t *testing.T) {
	for _, base := range []string{"", "/tools"} {
		s := newStage(t, "http://localhost:8090"+base)
		asked := ""
		h := func(w http.ResponseWriter, r *http.Request) error {
			asked = r.PathValue("id") + "|" + r.URL.Query().Get("id")
			return WriteJSON(w, r, http.StatusOK, map[string]string{})
		}
		for _, route := range []Route{
			{Method: "GET", Path: "/rest/mtbs/1.0/configuration/filter", Access: Anyone, Query: []string{"id"}},
			{Method: "POST", Path: "/rest/mtbs/1.0/configuration/filter", Access: Anyone},
			{Method: "GET", Path: "/rest/mtbs/1.0/configuration/deliveries/{id}", Access: Anyone},
			{Method: "GET", Path: "/rest/mailqueue/1.0/status", Access: Anyone, XML: true},
			{Method: "GET", Path: "/rest/migration/latest/report/id-mappings", Access: Anyone, Own: true, Query: []string{"cloudSiteUrl"}},
			{Method: "GET", Path: "/rest/private/1.0/x", Access: Admins},
		} {
			s.handle(route, h)
		}
		const filter = "/rest/mtbs/1.0/configuration/filter"
		for _, c := range []struct {
			method, path string
			status       int
			asked, says  string
		}{
			{"GET", filter + "?os_authType=basic&_=1763800000000&id=7", 200, "|7", ""},
			{"GET", filter + "?os_authType=basic&os_authType=any&atl_token=x&_=1&_=2", 200, "|", ""},
			{"GET", filter + "/?os_authType=none", 200, "|", ""},
			{"POST", filter + "/", 200, "|", ""},
			{"HEAD", filter + "/", 200, "|", ""},
			{"GET", filter + ".json/", 200, "|", ""},
			{"GET", "/rest/mtbs/latest/configuration/filter/?id=7", 200, "|7", ""},
			{"GET", "/rest/mtbs/latest/configuration/deliveries/latest/", 200, "latest|", ""},
			{"GET", "/rest/mtbs/1.0/configuration/deliveries/a%2Fb/", 200, "a/b|", ""},
			{"GET", "/rest/mailqueue/latest/status", 200, "|", ""},
			{"GET", "/rest/mailqueue/latest/status.xml/", 200, "|", ""},
			{"GET", "/rest/migration/latest/report/id-mappings/?os_authType=basic", 200, "|", ""},
			{"GET", "/rest/openapi.yaml/", 200, "", ""},

			{"DELETE", filter + "/", 405, "", ""},
			{"GET", filter + "//", 404, "", ""},
			{"GET", "/rest/mtbs/1.0//configuration/filter", 404, "", ""},
			{"GET", "/rest/mtbs/2.0/configuration/filter", 404, "", ""},
			{"GET", "/rest/mtbs/latest/latest/configuration/filter", 404, "", ""},
			{"GET", "/rest/migration/1.0/report/id-mappings", 404, "", ""},
			{"GET", filter + "?OS_AUTHTYPE=basic", 400, "", "Unknown parameter"},
			{"GET", filter + "?os_username=ada&os_password=secret-word", 400, "", "Authorization"},
			{"GET", "/rest/private/1.0/x?os_username=ada&os_password=secret-word", 400, "", "Authorization"},
			{"GET", "/rest/private/1.0/x/?os_authType=basic", 401, "", ""},
		} {
			asked = ""
			w := s.do(c.method, base+c.path, "")
			if w.Code != c.status || asked != c.asked || !strings.Contains(w.Body.String(), c.says) || strings.Contains(w.Body.String(), "secret-word") {
				t.Errorf("%s %s: %d, handled as %q: %s", c.method, base+c.path, w.Code, asked, w.Body)
			}
			if w.Header().Get("Location") != "" {
				t.Errorf("%s %s redirects", c.method, c.path)
			}
		}
	}
}

package rest

import (
	"net/http"
	"strings"
	"testing"
)

func TestParametersAreKnownAndGivenOnce(t *testing.T) {
	s := newStage(t, "http://localhost:8090")
	asked := 0
	h := func(http.ResponseWriter, *http.Request) error { asked++; return nil }
	for _, route := range []Route{
		{Method: "GET", Path: "/rest/mtbs/1.0/configuration/deliveries", Access: Anyone, Query: paged("filterId", "state")},
		{Method: "DELETE", Path: "/rest/mtbs/1.0/configuration/filter", Access: Anyone, Query: []string{"id"}},
		{Method: "GET", Path: "/rest/mtbs/1.0/configuration/eventTypes", Access: Anyone},
		{Method: "GET", Path: "/rest/private", Access: Admins},
		{Method: "POST", Path: "/hooks/{connection}", Raw: true},
		{Method: "GET", Path: "/metrics", Access: Anyone, Own: true},
	} {
		s.handle(route, h)
	}
	const base = "/rest/mtbs/1.0/configuration/"
	for _, c := range []struct {
		method, path string
		status       int
		says         []string
	}{
		{"GET", base + "deliveries?state=failed&limit=2", 200, nil},
		{"HEAD", base + "deliveries?state=failed", 200, nil},
		{"GET", base + "deliveries?", 200, nil},
		{"GET", base + "deliveries.json?limit=2", 200, nil},
		{"GET", base + "deliveries?projectKey=ATL", 400, []string{`"field":"projectKey"`, `Unknown parameter \"projectKey\"; there are filterId, state, limit and after.`}},
		{"GET", base + "deliveries?STATE=failed&x=1", 400, []string{`"field":"STATE"`, `"field":"x"`}},
		{"DELETE", base + "filter?id=1&id=3", 400, []string{"id is given 2 times; give it once."}},
		{"DELETE", base + "filter?id=1&name=x", 400, []string{"there is id."}},
		{"GET", base + "eventTypes?x", 400, []string{"there are none."}},
		{"GET", base + "deliveries?a=%zz", 400, []string{"malformed"}},
		{"GET", base + "deliveries?a;b", 400, []string{"malformed"}},
		{"GET", "/rest/private?x=1", 401, nil}, // who may not ask learns nothing
		{"POST", "/hooks/main?x=1", 200, nil},
		{"GET", "/metrics?collect=x", 200, nil},
	} {
		asked = 0
		w := s.do(c.method, c.path, "")
		if w.Code != c.status || (asked == 1) != (c.status == 200) {
			t.Errorf("%s %s: %d and handled %d times, want %d: %s", c.method, c.path, w.Code, asked, c.status, w.Body)
		}
		for _, text := range c.says {
			if !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s %s does not say %q: %s", c.method, c.path, text, w.Body)
			}
		}
	}
}

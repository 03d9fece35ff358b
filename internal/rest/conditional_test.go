package rest

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

// Sail is what has versions in these tests.
type Sail struct {
	ID int64 `json:"id"`
}

func (Sail) MemberWords() map[string]string {
	return map[string]string{"": "It is held to its version."}
}

type trimSail struct {
	Match Match  `json:"-"`
	Angle string `json:"angle"`
}

type findSails struct {
	ID *int64 `query:"id" min:"1" required:"true" example:"7" doc:"Its number."`
}

// SailOrSails is one or many.
type SailOrSails struct {
	AnyOf
	One *Sail
	All []Sail `doc:"Without a number."`
}

func newSails(t *testing.T) stage {
	s := newStage(t, "https://a.example")
	Add(s.Router, Route{Method: "PATCH", Path: "/rest/sails/trim", Access: Anyone}, Words{
		ID: "trimSail", Tag: "sails", Summary: "Trims a sail.", Answer: "The sail.",
	}, func(_ context.Context, in trimSail) (Sail, error) {
		return Sail{7}, in.Match.Check(ETag(7, 3), "ada trimmed it")
	})
	Add(s.Router, Route{Method: "GET", Path: "/rest/sails", Access: Anyone}, Words{
		ID: "findSails", Tag: "sails", Summary: "Finds sails.", Answer: "A sail, or sails.", Headers: []string{"ETag"}, Media: []string{"text/html"},
	}, func(_ context.Context, in findSails) (a Answer[SailOrSails], err error) {
		if in.ID == nil {
			a.Body.All = []Sail{}
			return a, nil
		}
		a.Body.One, a.ETag = &Sail{*in.ID}, ETag(*in.ID, 3)
		return a, nil
	})
	return s
}

func TestOperationIsHeldToAVersion(t *testing.T) {
	s := newSails(t)
	for _, test := range []struct {
		match  string
		status int
	}{{"", 200}, {`"7-3"`, 200}, {"*", 200}, {`"7-2"`, 412}, {`"7-2", "7-3"`, 200}} {
		headers := []string{"Content-Type", "application/json"}
		if test.match != "" {
			headers = append(headers, "If-Match", test.match)
		}
		w := s.do("PATCH", "/rest/sails/trim", `{"angle":"45"}`, headers...)
		if w.Code != test.status || (w.Code != 200) != strings.Contains(w.Body.String(), "ada trimmed it") {
			t.Errorf("%s: %d %s", test.match, w.Code, w.Body)
		}
	}
}

// An answer is the member that is there, and a parameter that is empty is not absent.
func TestOperationAnswersOneOfSeveral(t *testing.T) {
	s := newSails(t)
	for _, test := range []struct {
		query  string
		status int
		etag   string
		answer string
	}{
		{"?id=7", http.StatusOK, `"7-3"`, `{"id":7}`},
		{"", http.StatusOK, "", `[]`},
		{"?id=", http.StatusBadRequest, "", `"field":"id"`},
	} {
		w := s.do("GET", "/rest/sails"+test.query, "")
		if w.Code != test.status || w.Header().Get("ETag") != test.etag || !strings.Contains(w.Body.String(), test.answer) {
			t.Errorf("%q: %d %v %s", test.query, w.Code, w.Header(), w.Body)
		}
	}
	text := string(s.OpenAPI())
	for _, part := range []string{
		"anyOf:\n", "description: Without a number.\n", "description: It is held to its version.\n", "minimum: 1\n", "required: true\n", "example: 7\n",
		`$ref: "#/components/parameters/ifMatch"`, `$ref: "#/components/responses/Changed"`, "ETag:\n", "text/html:\n", "application/json:\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the description lacks %q", part)
		}
	}
	for _, route := range s.Routes() {
		if route.Conditional != (route.Method == "PATCH") && strings.HasPrefix(route.Path, "/rest/sails") {
			t.Errorf("%s: conditional is %t", route.Method, route.Conditional)
		}
	}
}

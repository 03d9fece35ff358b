package rest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// Boat is what the operations of these tests are about.
type Boat struct {
	ID      int64     `json:"id" doc:"Its number."`
	Name    string    `json:"name" doc:"What it is called." min:"1" max:"20"`
	Crew    []string  `json:"crew,omitempty"`
	SavedAt time.Time `json:"savedAt,omitzero" doc:"When it was saved last."`
}

func (Boat) MemberWords() map[string]string {
	return map[string]string{"crew": "Who is on it."}
}

type saveBoat struct {
	ID    int64        `path:"id" json:"-" doc:"Its number." example:"7"`
	Force bool         `query:"force" json:"-" doc:"Also where it sails."`
	Since time.Time    `query:"since" json:"-" doc:"From this time on."`
	Name  *string      `json:"name,omitempty" doc:"What it is called."`
	Crew  *[]string    `json:"crew,omitempty" doc:"Who is on it."`
	Depth int          `json:"depth,omitempty" doc:"In metres."`
	Wrong fault.Fields `json:"-"`
	Ignored[Boat]
}

type listBoats struct {
	Page Page
	Name string `query:"name" doc:"Part of the name."`
}

// harbour has the operations, and keeps the last input.
type harbour struct {
	stage
	saved saveBoat
}

func newHarbour(t *testing.T) *harbour {
	h := &harbour{stage: newStage(t, "https://a.example")}
	Add(h.Router, Route{Method: "PUT", Path: "/rest/boats/{id}", Access: Anyone}, Words{
		ID: "saveBoat", Tag: "boats", Summary: "Saves a boat.", Answer: "The boat.", Status: http.StatusCreated, Refused: []int{http.StatusConflict},
	}, func(_ context.Context, in saveBoat) (Boat, error) {
		h.saved = in
		if in.Depth > 5 {
			in.Wrong.Add("depth", "depth is at most 5.")
		}
		return Boat{ID: in.ID, Name: "x"}, in.Wrong.Err()
	}, Example[saveBoat, Boat]{Name: "deep", In: saveBoat{Depth: 9}, Err: fault.New(fault.Conflict, "Too deep.")})
	Add(h.Router, Route{Method: "GET", Path: "/rest/boats", Access: Anyone}, Words{
		ID: "listBoats", Tag: "boats", Summary: "Lists boats.", Answer: "A page of boats.",
	}, func(_ context.Context, in listBoats) (List[Boat], error) {
		all := []Boat{{ID: 1, Name: in.Name}, {ID: 2}, {ID: 3}}
		return NewList(in.Page, all[:min(in.Page.Limit+1, 3)], nil, func(b Boat) string { return b.Name }, func(b Boat) Boat { return b })
	})
	Add(h.Router, Route{Method: "DELETE", Path: "/rest/boats/{id}", Access: Anyone}, Words{
		ID: "sinkBoat", Tag: "boats", Summary: "Sinks a boat.", Answer: "It is gone.",
	}, func(_ context.Context, in struct {
		ID string `path:"id" doc:"Its number." example:"7"`
	}) (None, error) {
		return None{}, nil
	})
	Add(h.Router, Route{Method: "POST", Path: "/rest/boats", Access: Anyone, Bare: true}, Words{
		ID: "buildBoat", Tag: "boats", Summary: "Builds a boat.", Answer: "The boat.", Status: http.StatusCreated, Headers: []string{"Location"},
		Also: []Success{{Status: http.StatusAccepted, Text: "It is being built.", Headers: []string{"Retry-After"}}},
	}, func(ctx context.Context, in buildBoat) (Answer[Boat], error) {
		if in.Key.IsZero() {
			return Answer[Boat]{Status: http.StatusAccepted, RetryAfter: time.Second}, nil
		}
		return Created(ctx, Boat{ID: 7, Name: in.Yard}, "/rest/boats/7"), nil
	},
		Example[buildBoat, Answer[Boat]]{Name: "one", In: buildBoat{Key: secret.New("boat key")}, Out: &Answer[Boat]{Status: http.StatusAccepted}})
	return h
}

type buildBoat struct {
	Yard string       `header:"Yard" json:"-" doc:"Who builds it." required:"true" example:"north"`
	Key  secret.Value `json:"key,omitzero" doc:"Opens it." min:"3" pattern:"^b"`
	Sail *bool        `json:"sail,omitempty" doc:"With a sail." default:"true"`
}

// A body that is not needed may be left out; what is more than a body is in headers.
func TestOperationAnswersWithHeaders(t *testing.T) {
	h := newHarbour(t)
	w := h.do("POST", "/rest/boats", `{"key":"secret"}`, "Content-Type", "application/json", "Yard", "north")
	if w.Code != http.StatusCreated || w.Header().Get("Location") != "https://a.example/rest/boats/7" || !strings.Contains(w.Body.String(), `"name":"north"`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	w = h.do("POST", "/rest/boats", "")
	if w.Code != http.StatusAccepted || w.Header().Get("Location") != "" || w.Header().Get("Retry-After") != "1" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := h.do("POST", "/rest/boats", " ", "Content-Type", "application/json"); w.Code != http.StatusBadRequest {
		t.Errorf("a body of a space: %d %s", w.Code, w.Body)
	}
}

func (h *harbour) put(path, body string) (int, string) {
	w := h.do("PUT", path, body, "Content-Type", "application/json")
	return w.Code, w.Body.String()
}

// Everything that is wrong is named at once, with what the operation itself finds.
func TestOperationNamesEveryWrongMember(t *testing.T) {
	h := newHarbour(t)
	status, body := h.put("/rest/boats/7?force=perhaps&since=yesterday", `{"name":5,"crew":["a"],"depth":9,"mast":1}`)
	if status != http.StatusBadRequest {
		t.Fatalf("%d %s", status, body)
	}
	for _, name := range []string{"force", "since", "name", "depth", "mast"} {
		if strings.Count(body, `"field":"`+name+`"`) != 1 {
			t.Errorf("%s is not named once: %s", name, body)
		}
	}
	for _, test := range []struct {
		path, body string
		status     int
	}{
		{"/rest/boats/seven", `{}`, 404}, {"/rest/boats/99999999999999999999", `{}`, 404}, {"/rest/boats/7?forse=true", `{}`, 400},
		{"/rest/boats/7?force=true&force=true", `{}`, 400}, {"/rest/boats/7", ``, 400}, {"/rest/boats/7", `[]`, 400}, {"/rest/boats/7", `{"name":`, 400},
		{"/rest/boats/7", `{"name":"a","name":"b"}`, 400}, {"/rest/boats/7", `{"id":"seven"}`, 400}, {"/rest/boats/7", `{"ID":8}`, 400},
		{"/rest/boats/7", `{"name":"` + strings.Repeat("a", 1<<20) + `"}`, 413}, {"/rest/boats/7", `{}`, 201},
	} {
		if status, body := h.put(test.path, test.body); status != test.status {
			t.Errorf("%s %.40s: %d %s", test.path, test.body, status, body)
		}
	}
}

// What an answer shows may come back, and is not read; what is absent, null and
// empty are three things.
func TestOperationInput(t *testing.T) {
	h := newHarbour(t)
	if status, body := h.put("/rest/boats/7?force=true&since=2026-03-01T00:00:00Z", `{"id":8,"savedAt":"2026-01-01T00:00:00Z","crew":[]}`); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	in := h.saved
	if in.ID != 7 || !in.Force || in.Since.Month() != time.March || in.Name != nil || in.Crew == nil || len(*in.Crew) != 0 {
		t.Errorf("%+v", in)
	}
	if _, body := h.put("/rest/boats/7", `{"crew":null,"name":""}`); h.saved.Crew != nil || h.saved.Name == nil {
		t.Errorf("%+v: %s", h.saved, body)
	}
	if w := h.do("DELETE", "/rest/boats/7", ""); w.Code != http.StatusNoContent || w.Body.Len() != 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w := h.do("GET", "/rest/boats?limit=2&name=ann", "")
	if body := w.Body.String(); w.Code != 200 || strings.Count(body, `"id"`) != 2 || !strings.Contains(body, `"next":`) || !strings.Contains(body, `"ann"`) {
		t.Errorf("%d %s", w.Code, body)
	}
	if w := h.do("GET", "/rest/boats?limit=none", ""); w.Code != http.StatusBadRequest {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The description has what the declarations say, and is the same twice.
func TestOperationsAreDescribed(t *testing.T) {
	h := newHarbour(t)
	text := string(h.OpenAPI())
	for _, part := range []string{
		"  /rest/boats:\n    get:\n", "operationId: saveBoat\n", "summary: Saves a boat.\n", "maxLength: 20\n", "minLength: 1\n", "readOnly: true\n",
		"    Boat:\n      type: object\n      required:\n        - id\n        - name\n      additionalProperties: false\n",
		"key: boat key\n", "required: false\n", "in: header\n", "        \"202\":\n", "Location:\n", "minLength: 3\n", "default: true\n", "pattern: ^b\n",
		`$ref: "#/components/parameters/after"`, "message: Too deep.\n", "description: Also where it sails.\n", "        \"201\":\n", "        \"204\":\n", "status-code: 409\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("it lacks %q", part)
		}
	}
	if strings.Contains(text, "Wrong:") || strings.Contains(text, "Ignored:") {
		t.Error("it has members that no request has")
	}
	if other := string(newHarbour(t).OpenAPI()); other != text {
		t.Error("it is another one the second time")
	}
	list := h.operations[slices.IndexFunc(h.operations, func(d *described) bool { return d.words.ID == "listBoats" })]
	if names := list.route.Query; !slices.Equal(names, []string{"name", "limit", "after"}) {
		t.Errorf("the list takes %q", names)
	}
}

// An operation whose members come from nowhere is a mistake that shows at the start.
func TestOperationsThatCannotBe(t *testing.T) {
	for name, add := range map[string]func(*Router){
		"a member from nowhere": func(rt *Router) {
			Handle[struct{ Name string }, None](rt, Route{Method: "GET", Path: "/rest/a"}, Words{}, nil)
		},
		"a type that cannot be described": func(rt *Router) {
			Handle[struct {
				C chan int `json:"c"`
			}, None](rt, Route{Method: "POST", Path: "/rest/a"}, Words{}, nil)
			rt.OpenAPI()
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is fine", name)
				}
			}()
			add(newStage(t, "https://a.example").Router)
		}()
	}
}

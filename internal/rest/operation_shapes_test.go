package rest

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"outrigger/internal/fault"
)

// Canoe is read and saved in one shape.
type Canoe struct {
	ID      int64  `json:"id" doc:"Its number."`
	Name    string `json:"name" doc:"What it is called."`
	SavedBy string `json:"savedBy,omitempty" readonly:"true"`
}

// canoeID reads its own text.
type canoeID int64

func (id *canoeID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 1 {
		return fault.New(fault.Invalid, "Give the number of a canoe.")
	}
	*id = canoeID(n)
	return nil
}

type saveCanoe struct {
	Canoe `requires:"name"`
	After *canoeID `query:"after" json:"-" doc:"Which one it follows."`
	Lake  canoeID  `query:"lake" json:"-" doc:"Where." required:"true" example:"3"`
}

func newLake(t *testing.T) stage {
	s := newStage(t, "https://a.example")
	Add(s.Router, Route{Method: "POST", Path: "/rest/canoes", Access: Anyone}, Words{
		ID: "saveCanoe", Tag: "canoes", Summary: "Saves a canoe.", Answer: "The canoe.",
		Refused: []int{http.StatusConflict}, RefusedFor: map[int]string{http.StatusConflict: "It sails."},
	}, func(_ context.Context, in saveCanoe) (Canoe, error) {
		if in.After != nil {
			in.ID = int64(*in.After) + 1
		}
		return in.Canoe, nil
	}, Example[saveCanoe, Canoe]{Name: "new", In: saveCanoe{Canoe: Canoe{Name: "a"}}, Err: fault.InvalidField("name", "It is taken.")})
	return s
}

// A thing comes back in the shape in which it was read, and a parameter says itself
// what is wrong with it.
func TestOperationInOneShape(t *testing.T) {
	s := newLake(t)
	for _, test := range []struct {
		query, body string
		status      int
		answer      string
	}{
		{"lake=3", `{"name":"a"}`, 200, `{"id":0,"name":"a"}`},
		{"lake=3&after=6", `{"id":7,"name":"a","savedBy":"ada"}`, 200, `{"id":7,"name":"a","savedBy":"ada"}`},
		{"lake=3", `{"id":7,"savedBy":5}`, 400, `"field":"savedBy"`},
		{"lake=3&after=0", `{"mast":1}`, 400, `"errors":[{"field":"after","message":"Give the number of a canoe."},{"field":"mast"`},
		{"lake=3&after=", `{}`, 400, `"field":"after"`},
		{"lake=", `{}`, 400, `"field":"lake"`},
		{"", `{}`, 400, `"errors":[{"field":"lake","message":"Give the number of a canoe."}]`},
	} {
		w := s.do("POST", "/rest/canoes?"+test.query, test.body, "Content-Type", "application/json")
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.answer) {
			t.Errorf("%s %s: %d %s", test.query, test.body, w.Code, w.Body)
		}
	}
}

// What a request must have is said apart from what an answer has, and why it is
// refused.
func TestShapesAreDescribed(t *testing.T) {
	text := string(newLake(t).OpenAPI())
	_, schema, _ := strings.Cut(text, "\n    Canoe:\n")
	text = text[strings.Index(text, "  /rest/canoes"):strings.Index(text, "\ncomponents:")]
	for _, part := range []string{
		"              required:\n                - name\n              additionalProperties: false\n", "readOnly: true\n",
		"          schema:\n            type: integer\n", "                value:\n                  name: a\n",
		"          description: Something is wrong with what was sent; `errors` names every member.\n", "          description: It sails.\n",
		"            application/xml:\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("it lacks %q: %s", part, text)
		}
	}
	if !strings.Contains(schema, "      required:\n        - id\n        - name\n      additionalProperties: false\n") {
		t.Errorf("the answer is %s", schema)
	}
}

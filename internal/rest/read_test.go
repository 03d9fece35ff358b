package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/fault"
)

type colour string

func (c *colour) UnmarshalText(b []byte) error {
	if string(b) != "red" {
		return errors.New("there is no colour " + string(b))
	}
	*c = colour(b)
	return nil
}

type place struct {
	Project    string `json:"projectKey"`
	Repository string `json:"repositoryKey"`
}

type sample struct {
	ID      int64     `json:"id"`
	Name    string    `json:"name"`
	Enabled *bool     `json:"enabled"`
	At      time.Time `json:"at"`
	Colours []colour  `json:"colours"`
	Places  []place   `json:"places"`
	Hidden  string    `json:"-"`
}

func post(body io.Reader) *http.Request {
	r := httptest.NewRequest("POST", "/", body)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// readJSON reads the body into v, a pointer to a struct.
func readJSON(r *http.Request, v any) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	return decode(body, fieldsOf(v))
}

func TestReadJSON(t *testing.T) {
	yes := true
	for _, c := range []struct {
		body string
		want sample
	}{
		{`{}`, sample{}},
		{" {\n\"name\":\"a\"}\n", sample{Name: "a"}},
		{`{"id":9007199254740993}`, sample{ID: 9007199254740993}}, // what a float would round
		{`{"id":9223372036854775807}`, sample{ID: math.MaxInt64}},
		{`{"id":-9223372036854775808}`, sample{ID: math.MinInt64}},
		{`{"id":null,"name":null,"enabled":null}`, sample{}},
		{`{"enabled":true}`, sample{Enabled: &yes}},
		{`{"at":"2026-01-31T10:00:00+01:00"}`, sample{At: time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)}},
		{`{"colours":["red"],"places":[{"projectKey":"A"}]}`, sample{Colours: []colour{"red"}, Places: []place{{Project: "A"}}}},
		{`{"name":"a\u0000b"}`, sample{Name: "a\ufffdb"}},
		{`{"name":"a\\u0000b"}`, sample{Name: `a\u0000b`}},
		{`{"name":"a\\\u0000b"}`, sample{Name: `a\` + "\ufffdb"}},
	} {
		var got sample
		if err := readJSON(post(strings.NewReader(c.body)), &got); err != nil {
			t.Errorf("%s: %v", c.body, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.body, d)
		}
	}
}

func TestReadJSONRefuses(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{``, "The body is empty; send JSON."},
		{"  \n", "The body is empty; send JSON."},
		{`[]`, "The body must be a JSON object."},
		{`null`, "The body must be a JSON object."},
		{`"{}"`, "The body must be a JSON object."},
		{`{"id":1}{}`, "There is more data after the JSON object. Send exactly one object."},
		{`{"id":1},`, "There is more data after the JSON object. Send exactly one object."},
		{`{"id":1} x`, "There is more data after the JSON object. Send exactly one object."},
		{`{`, "The body is not valid JSON: "},
		{`{"id":1`, "The body is not valid JSON: "},
		{`{"id":tru}`, "The body is not valid JSON: "},
		{`{"id":01}`, "The body is not valid JSON: "},
		{`{id:1}`, "The body is not valid JSON: "},
		{"{\"name\":\"\x00\"}", "The body is not valid JSON: "},
		{"{\"name\":\"\xff\"}", "The body is not valid JSON: "},
		{strings.Repeat(`{"places":[`, 20000), "The body is not valid JSON: "},
		{`{"id":1,"id":2}`, `The member "id" is given twice; give it once.`},
		{`{"places":[{"projectKey":"A","projectKey":"B"}]}`, `The member "places[0].projectKey" is given twice; give it once.`},
		{`{"nome":"x"}`, `Unknown member "nome"; remove it or correct its name.; nome: `},
		{`{"Name":"x"}`, `Unknown member "Name"`},
		{`{"Hidden":"x"}`, `Unknown member "Hidden"`},
		{`{"id":1.5}`, "id must be a whole number of at most 64 bits.; id: "},
		{`{"id":1e3}`, "id must be a whole number of at most 64 bits."},
		{`{"id":9223372036854775808}`, "id must be a whole number of at most 64 bits."},
		{`{"id":"1"}`, "id must be a whole number of at most 64 bits."},
		{`{"name":1}`, "name must be text."},
		{`{"enabled":"yes"}`, "enabled must be true or false."},
		{`{"places":{}}`, "places must be a list."},
		{`{"places":[{},[]]}`, "places[1] must be an object."},
		{`{"places":[{},{"slug":"x"}]}`, `Unknown member "places[1].slug"`},
		{`{"colours":["red","blue"]}`, "colours[1]: there is no colour blue."},
		{`{"at":"yesterday"}`, "at must be a time as in RFC 3339, such as 2026-01-31T09:00:00Z."},
		{`{"at":12}`, "at must be a time as in RFC 3339, such as 2026-01-31T09:00:00Z."},
		{`{"nome":1,"id":"x","enabled":3}`, "3 members are invalid; see errors.; nome: Unknown member \"nome\"; remove it or correct its name.; " +
			"id: id must be a whole number of at most 64 bits.; enabled: enabled must be true or false."},
	} {
		err := readJSON(post(strings.NewReader(c.body)), new(sample))
		if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.80s: got %v\nwant %s", c.body, err, c.want)
		}
	}
}

func TestReadJSONMediaType(t *testing.T) {
	for contentType, ok := range map[string]bool{
		"application/json":                    true,
		"Application/JSON":                    true,
		"application/json; charset=UTF-8":     true,
		"application/json;charset=iso-8859-1": false,
		"":                                    false,
		"text/plain":                          false,
		"application/x-www-form-urlencoded":   false,
		"application/problem+json":            false,
		"application/json, text/plain":        false,
	} {
		r := post(strings.NewReader(`{}`))
		r.Header.Set("Content-Type", contentType)
		err := readJSON(r, new(sample))
		var refused *httpError
		if got := err == nil; got != ok || !ok && (!errors.As(err, &refused) || refused.status != 415) {
			t.Errorf("%q: %v", contentType, err)
		}
	}
}

func TestReadJSONBrokenOff(t *testing.T) {
	err := readJSON(post(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(`{"id":1}`)))), new(sample))
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("a body that breaks off: %v", err)
	}
}

// FuzzDecode holds that whatever is accepted means what encoding/json says.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"name":"\u0000","enabled":false}`, `{"colours":["red"],"places":[{"projectKey":"A"}]}`, `{"at":"2026-01-31T10:00:00Z"}`,
		`{"id":1}{}`, `{"nome":"x"}`, `{"id":1e2}`, `{"a":`, `[1]`, `{"name":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		body = replaceNUL(bytes.Clone(body))
		var got, want sample
		if err := decode(body, fieldsOf(&got)); err != nil {
			if fault.CodeOf(err) != fault.Invalid {
				t.Fatalf("an error of another code: %v", err)
			}
			return
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&want); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		if strings.ContainsRune(got.Name, 0) {
			t.Fatal("U+0000 came through")
		}
		if !got.At.Equal(want.At) {
			t.Fatalf("at is %v, want %v", got.At, want.At)
		}
		got.At, want.At = time.Time{}, time.Time{}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

package openapitest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func load(t *testing.T, data string) *Spec {
	t.Helper()
	s, err := Load([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const small = `
openapi: 3.1.0
info: {title: A, version: "1"}
paths:
  /rest/thing/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}, example: 7}]
    get:
      responses:
        "200": {description: It., content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}
        "404": {description: None.}
    post:
      requestBody:
        required: true
        content:
          application/json:
            schema: {type: object, required: [name], properties: {name: {type: string}}}
            examples:
              good: {value: {name: x}}
              bad: {value: {name: ""}}
      responses:
        "201":
          description: Made.
          content:
            application/json:
              schema: {$ref: "#/components/schemas/Thing"}
              examples: {good: {value: {id: 1, name: x}}}
        "400":
          description: Bad.
          content:
            application/json:
              schema: {type: object}
              examples: {bad: {value: {message: Give a name.}}}
  /rest/open:
    get: {security: [], responses: {"200": {description: Open.}}}
security: [{basic: []}]
components:
  securitySchemes: {basic: {type: http, scheme: basic}}
  schemas:
    Thing:
      type: object
      required: [id]
      additionalProperties: false
      properties: {id: {type: integer}, name: {type: string}}
`

func TestInvalidDescriptions(t *testing.T) {
	for name, change := range map[string][2]string{
		"an example that does not hold": {"{id: 1, name: x}", "{id: one, name: x}"},
		"a reference to nothing":        {"schemas/Thing", "schemas/Nothing"},
		"another version":               {"openapi: 3.1.0", "openapi: 3.0.3"},
		"no YAML":                       {"openapi: 3.1.0", "openapi: ]"},
		"a member that is none":         {"security: []", "secrity: []"},
	} {
		if _, err := Load([]byte(strings.Replace(small, change[0], change[1], 1))); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// serve answers every request to /rest/thing the same.
func serve(t *testing.T, s *Spec, status int, contentType, body string) (*http.Client, string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/base/rest/open" {
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	base := server.URL + "/base"
	checked, err := s.Transport(base, server.Client().Transport)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: checked}, base
}

func TestTransport(t *testing.T) {
	s := load(t, small)
	for _, c := range []struct {
		method, path, sent string
		status             int
		contentType, body  string
		ok                 bool
	}{
		{"GET", "/rest/thing/1", "", 200, "application/json", `{"id":1}`, true},
		{"HEAD", "/rest/thing/1", "", 200, "application/json", "", true},
		{"GET", "/rest/thing/1", "", 200, "application/json", `{"id":"1"}`, false},
		{"GET", "/rest/thing/1", "", 200, "application/json", `{"id":1,"more":true}`, false},
		{"GET", "/rest/thing/1", "", 200, "text/plain", `id`, true},
		{"GET", "/rest/thing/1", "", 404, "application/json", `{}`, true},
		{"GET", "/rest/thing/1", "", 418, "application/json", `{}`, false},
		{"GET", "/rest/thing/1", "", 503, "application/json", `{}`, true},
		{"GET", "/page", "", 418, "text/html", `<p>`, true},
		{"POST", "/rest/thing/1", `{"name":"x"}`, 201, "application/json", `{"id":1}`, true},
		{"POST", "/rest/thing/1", `{"name":1}`, 201, "application/json", `{"id":1}`, false},
		{"POST", "/rest/thing/1", `{"name":1}`, 400, "application/json", `{}`, true},
	} {
		client, base := serve(t, s, c.status, c.contentType, c.body)
		r, err := http.NewRequest(c.method, base+c.path, strings.NewReader(c.sent))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := client.Do(r)
		if err == nil {
			body, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if string(body) != c.body {
				t.Errorf("%+v: the body got lost", c)
			}
		}
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestReplay(t *testing.T) {
	s := load(t, small)
	signedIn := 0
	answer := func(good, bad string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Me") != "" {
				signedIn++
			}
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			switch {
			case r.URL.Path == "/rest/open":
			case r.URL.Path != "/rest/thing/7":
				http.NotFound(w, r)
			case r.Method == "POST" && strings.Contains(string(body), `""`):
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, bad)
			case r.Method == "POST":
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, good)
			default:
				_, _ = io.WriteString(w, `{"id":7}`)
			}
		})
	}
	for _, c := range []struct {
		good, bad string
		ok        bool
	}{
		{`{"id":99,"name":"other"}`, `{"message":"Give a name."}`, true},
		{`{"id":99}`, `{"message":"Give a name."}`, false},
		{`{"id":99,"name":"other"}`, `{"message":"Something else."}`, false},
	} {
		server := httptest.NewServer(answer(c.good, c.bad))
		signedIn = 0
		err := s.Replay(t.Context(), server.Client(), server.URL, func(r *http.Request) { r.Header.Set("X-Me", "1") })
		server.Close()
		if (err == nil) != c.ok || signedIn != 3 {
			t.Errorf("%+v: %v, signed in %d times", c, err, signedIn)
		}
	}
}

const texts = `
openapi: 3.1.0
info: {title: A, version: "1"}
paths:
  /rest/lines:
    parameters: [{name: site, in: query, required: true, schema: {type: string}, example: "https://x.example"}, {name: more, in: query, schema: {type: string}, example: y}]
    get: {responses: {"200": {description: Them.}}}
    post:
      requestBody: {content: {text/csv: {schema: {type: string}, examples: {two: {value: "a,b\nc,d\n"}}}}}
      responses: {"200": {description: Taken.}}
`

// What is no JSON is sent as the text that it is, and what a query must have is
// in it.
func TestReplayOfTexts(t *testing.T) {
	s := load(t, texts)
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.String()+" "+r.Header.Get("Content-Type")+" "+string(body))
	}))
	t.Cleanup(server.Close)
	if err := s.Replay(t.Context(), server.Client(), server.URL, func(*http.Request) {}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"POST /rest/lines?site=https%3A%2F%2Fx.example text/csv a,b\nc,d\n", "GET /rest/lines?site=https%3A%2F%2Fx.example  ",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What can succeed must, where a server has what the paths are about; what never
// can is held to the error that is shown.
func TestReplayAll(t *testing.T) {
	s := load(t, `
openapi: 3.1.0
info: {title: A, version: "1"}
paths:
  /rest/cloud/thing:
    get:
      responses:
        "200": {description: It., content: {application/json: {schema: {type: object}}}}
        "404": {description: None., content: {application/json: {schema: {type: object}, examples: {fresh: {value: {message: None.}}}}}}
  /rest/cloud/never:
    get:
      responses:
        "400": {description: Never., content: {application/json: {schema: {type: object}, examples: {fresh: {value: {message: Never.}}}}}}
  /rest/other:
    get: {responses: {"200": {description: It.}}}
`)
	play := func(thing int) error {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			status, text := map[string]int{"/rest/cloud/thing": thing, "/rest/cloud/never": 400}[r.URL.Path], `{"message": "None."}`
			if status == 400 {
				text = `{"message": "Never."}`
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}))
		defer server.Close()
		return s.ReplayAll(t.Context(), server.Client(), server.URL, "/rest/cloud/", func(*http.Request) {})
	}
	if err := play(200); err != nil {
		t.Error(err)
	}
	if err := play(404); err == nil || !strings.Contains(err.Error(), "answered 404") {
		t.Errorf("an error that is shown for an empty server: %v", err)
	}
	if err := s.ReplayAll(t.Context(), http.DefaultClient, "", "/rest/nothing", nil); err == nil {
		t.Error("no path is fine")
	}
}

// Members of all bodies have words, and what takes or answers JSON has an example.
func TestComplaintsOfWordsAndExamples(t *testing.T) {
	const text = `
openapi: 3.1.0
info: {title: A, version: "1"}
paths:
  /rest/thing:
    put:
      operationId: saveThing
      tags: [things]
      summary: Saves it.
      description: All of it.
      requestBody: {content: {application/json: {schema: {type: object, additionalProperties: false, properties: {
        named: {type: string, description: Its name.}, of: {$ref: "#/components/schemas/Words"}, bare: {$ref: "#/components/schemas/Bare"}}}}}}
      responses: {"200": {description: It., content: {application/json: {schema: {type: array, items: {
        type: object, additionalProperties: false, properties: {count: {type: integer}}}}}}}}
components:
  schemas:
    Words: {type: string, description: What it is.}
    Bare: {type: object, additionalProperties: {type: object, additionalProperties: false, properties: {deep: {type: string}}}}
`
	want := []string{
		"Bare{}.deep has no description", "PUT /rest/thing 200[].count has no description", "PUT /rest/thing has no example",
		"PUT /rest/thing.bare has no description",
	}
	if d := cmp.Diff(want, load(t, text).Complaints()); d != "" {
		t.Error(d)
	}
	shown := strings.Replace(text, "schema: {type: array", "examples: {one: {value: [{count: 1}]}}, schema: {type: array", 1)
	if d := cmp.Diff(want, load(t, shown).Complaints()); d != "" { // of the answer; the request has none yet
		t.Error(d)
	}
}

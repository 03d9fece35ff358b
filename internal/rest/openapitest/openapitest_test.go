package openapitest

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"outrigger/internal/rest"
)

func load(t *testing.T, data string) *Spec {
	t.Helper()
	s, err := Load([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOurDescriptionIsValid(t *testing.T) { load(t, string(rest.OpenAPI())) }

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

func TestDifferences(t *testing.T) {
	s := load(t, small)
	same := []rest.Route{
		{Method: "GET", Path: "/rest/thing/{id}"}, {Method: "POST", Path: "/rest/thing/{id...}"}, {Method: "GET", Path: "/rest/open", Access: rest.Anyone},
	}
	if d := s.Differences(same); len(d) > 0 {
		t.Errorf("there are none, but %v", d)
	}
	other := []rest.Route{
		{Method: "GET", Path: "/rest/thing/{id}", XML: true}, {Method: "GET", Path: "/rest/open", Conditional: true}, {Method: "GET", Path: "/rest/more"},
	}
	want := []string{
		"GET /rest/more is not described", "GET /rest/open differs in whether credentials are asked for", "GET /rest/open differs in whether it takes If-Match",
		"GET /rest/thing/{id} differs in whether it answers XML", "POST /rest/thing/{id} is described, but no route",
	}
	if d := cmp.Diff(want, s.Differences(other)); d != "" {
		t.Error(d)
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

// Generators of clients make a type of every component, whatever its kind: two of one
// name are refused, or one gets a number.
func TestOurComponentsHaveNamesOfTheirOwn(t *testing.T) {
	parts := load(t, string(rest.OpenAPI())).doc.Components
	kinds := map[string][]string{}
	note := func(kind string, names []string) {
		for _, name := range names {
			kinds[strings.ToLower(name)] = append(kinds[strings.ToLower(name)], kind)
		}
	}
	note("schema", slices.Collect(maps.Keys(parts.Schemas)))
	note("parameter", slices.Collect(maps.Keys(parts.Parameters)))
	note("request body", slices.Collect(maps.Keys(parts.RequestBodies)))
	note("response", slices.Collect(maps.Keys(parts.Responses)))
	for name, schema := range parts.Schemas { // and of every enum in one
		for member, of := range schema.Value.Properties {
			if of.Ref == "" && len(of.Value.Enum) > 0 {
				note("enum of "+name, []string{name + member})
			}
		}
	}
	for name, of := range kinds {
		if len(of) > 1 {
			t.Errorf("%s is a %s", name, strings.Join(of, " and a "))
		}
	}
}

// An answer with a member that the description lacks must fail, so every object that
// it lists members of has no others.
func TestOurObjectsAreClosed(t *testing.T) {
	s := load(t, string(rest.OpenAPI()))
	var walk func(at string, schema *openapi3.SchemaRef)
	walk = func(at string, schema *openapi3.SchemaRef) {
		if schema == nil || schema.Ref != "" { // which is walked itself
			return
		}
		v := schema.Value
		more := v.AdditionalProperties
		if len(v.Properties) > 0 && (more.Has == nil || *more.Has) && more.Schema == nil {
			t.Errorf("%s may have members that are not described", at)
		}
		for name, member := range v.Properties {
			walk(at+"."+name, member)
		}
		walk(at+"[]", v.Items)
		for _, parts := range []openapi3.SchemaRefs{v.AllOf, v.AnyOf, v.OneOf} {
			for _, p := range parts {
				walk(at, p)
			}
		}
	}
	for name, schema := range s.doc.Components.Schemas {
		walk(name, schema)
	}
	contents := func(name string, content openapi3.Content) {
		for _, c := range content {
			walk(name, c.Schema)
		}
	}
	for _, op := range s.operations() {
		for status, response := range op.Responses.Map() {
			if response.Ref == "" {
				contents(op.method+" "+op.path+" "+status, response.Value.Content)
			}
		}
	}
	for name, response := range s.doc.Components.Responses {
		contents(name, response.Value.Content)
	}
}

// A reader of the description has nothing else: what a parameter does and what a
// number counts or measures must be said there.
func TestOurParametersAndNumbersAreDescribed(t *testing.T) {
	s := load(t, string(rest.OpenAPI()))
	parameters := func(at string, list openapi3.Parameters) {
		for _, p := range list {
			if p.Value.Description == "" {
				t.Errorf("%s: the parameter %s has no description", at, p.Value.Name)
			}
		}
	}
	for path, item := range s.doc.Paths.Map() {
		parameters(path, item.Parameters)
		for method, op := range item.Operations() {
			parameters(method+" "+path, op.Parameters)
		}
	}
	var walk func(at string, schema *openapi3.SchemaRef)
	walk = func(at string, schema *openapi3.SchemaRef) {
		if schema == nil || schema.Ref != "" { // which is walked itself
			return
		}
		for name, member := range schema.Value.Properties {
			v := member.Value
			number := v.Type.Is("integer") || v.Type.Is("number")
			if member.Ref == "" && number && name != "id" && v.Description == "" {
				t.Errorf("%s.%s is a number without a description", at, name)
			}
			walk(at+"."+name, member)
		}
		walk(at+"[]", schema.Value.Items)
	}
	for name, schema := range s.doc.Components.Schemas {
		walk(name, schema)
	}
}

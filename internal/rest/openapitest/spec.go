// Package openapitest holds the description of the REST API and a server to
// each other: for tests.
//
//	spec, err := openapitest.Load(router.OpenAPI())
//	spec.Differences(router.Routes())        // both ways: must be none
//	client.Transport = spec.Transport(base, client.Transport) // every exchange is as described
//	spec.Replay(ctx, client, base, signIn)   // every example does what it says
package openapitest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sort"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"outrigger/internal/rest"
)

// Spec is a description that is valid in itself.
type Spec struct{ doc *openapi3.T }

// Load reads a description. It must be valid OpenAPI, with every reference
// resolved and every example as its schema says.
func Load(data []byte) (*Spec, error) {
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return nil, fmt.Errorf("reading the description: %w", err)
	}
	if !doc.IsOpenAPI31OrLater() {
		return nil, fmt.Errorf("the description is OpenAPI %s, not 3.1", doc.OpenAPI)
	}
	err = doc.Validate(context.Background(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaFormatValidation(),
		openapi3.EnableSchemaPatternValidation(), openapi3.EnableMultiError())
	if err != nil {
		return nil, fmt.Errorf("the description is not valid: %w", err)
	}
	return &Spec{doc}, nil
}

// Differences says what routes the description lacks, what it describes that
// is no route, and where the two disagree about who may ask, with which
// parameters and conditions, and in what format the answer comes.
func (s *Spec) Differences(routes []rest.Route) []string {
	var found []string
	described := map[string]*openapi3.Operation{}
	for path, item := range s.doc.Paths.Map() {
		for method, op := range item.Operations() {
			described[method+" "+path] = op
		}
	}
	for _, route := range routes {
		name := route.Method + " " + strings.ReplaceAll(route.Path, "...}", "}")
		op := described[name]
		if op == nil {
			found = append(found, name+" is not described")
			continue
		}
		delete(described, name)
		if open(op) != (route.Access == rest.Anyone || route.Raw) {
			found = append(found, name+" differs in whether credentials are asked for")
		}
		if inXML(op) != route.XML {
			found = append(found, name+" differs in whether it answers XML")
		}
		if conditional(op) != route.Conditional {
			found = append(found, name+" differs in whether it takes If-Match")
		}
		if has, says := slices.Sorted(slices.Values(route.Query)), s.query(name, op); !slices.Equal(has, says) {
			found = append(found, fmt.Sprintf("%s takes the parameters %q, and %q are described", name, has, says))
		}
	}
	for name := range described {
		found = append(found, name+" is described, but no route")
	}
	sort.Strings(found)
	return found
}

// query lists an operation's query parameters, those of its path included.
func (s *Spec) query(name string, op *openapi3.Operation) []string {
	_, path, _ := strings.Cut(name, " ")
	var names []string
	for _, list := range []openapi3.Parameters{s.doc.Paths.Value(path).Parameters, op.Parameters} {
		for _, p := range list {
			if p.Value.In == openapi3.ParameterInQuery {
				names = append(names, p.Value.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Operation is one method of one path, for tests that go over all of them.
type Operation struct {
	Method string
	Path   string   // as it is described
	URL    string   // the path with the examples of its parameters, and those that its query must have
	Query  []string // the parameters that its query takes
	Body   []string // the media types that its body may have
	Bare   bool     // it is taken without a body too
	Stream bool     // its answer goes on and on
	Open   bool     // it asks for no credentials
	// Conditional: it takes If-Match.
	Conditional bool
}

// Operations returns all of them.
func (s *Spec) Operations() ([]Operation, error) {
	var all []Operation
	for _, op := range s.operations() {
		address, err := op.url("")
		if err != nil {
			return nil, err
		}
		one := Operation{Method: op.method, Path: op.path, URL: address, Open: open(op.Operation),
			Query: s.query(op.method+" "+op.path, op.Operation), Stream: op.endless(), Conditional: conditional(op.Operation)}
		if op.RequestBody != nil {
			one.Body = slices.Sorted(maps.Keys(op.RequestBody.Value.Content))
			one.Bare = !op.RequestBody.Value.Required
		}
		all = append(all, one)
	}
	return all, nil
}

// open reports whether an operation asks for no credentials.
func open(op *openapi3.Operation) bool { return op.Security != nil && len(*op.Security) == 0 }

// conditional reports whether an operation takes If-Match.
func conditional(op *openapi3.Operation) bool {
	return op.Parameters.GetByInAndName(openapi3.ParameterInHeader, "If-Match") != nil
}

// inXML reports whether an operation's successes come as XML too.
func inXML(op *openapi3.Operation) bool {
	for status, response := range op.Responses.Map() {
		if strings.HasPrefix(status, "2") && response.Value.Content["application/xml"] != nil {
			return true
		}
	}
	return false
}

// operation is one method of one path.
type operation struct {
	method, path string
	item         *openapi3.PathItem
	*openapi3.Operation
	succeeds bool // its error examples are of another server
}

// operations lists all of them: what creates first, then what changes, then
// what reads; each by path.
func (s *Spec) operations() []operation {
	var all []operation
	for path, item := range s.doc.Paths.Map() {
		for method, op := range item.Operations() {
			all = append(all, operation{method, path, item, op, false})
		}
	}
	order := []string{http.MethodPost, http.MethodPut, http.MethodGet, http.MethodDelete}
	slices.SortFunc(all, func(a, b operation) int {
		if a.method != b.method {
			return slices.Index(order, a.method) - slices.Index(order, b.method)
		}
		return strings.Compare(a.path, b.path)
	})
	return all
}

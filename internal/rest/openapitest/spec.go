// Package openapitest holds a server to the description of its REST API, which is
// made of its routes: for tests.
//
//	spec, err := openapitest.Load(router.OpenAPI())
//	spec.Complaints()                        // must be none
//	client.Transport = spec.Transport(base, client.Transport) // every exchange is as described
//	spec.Replay(ctx, client, base, signIn)   // every example does what it says
package openapitest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
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

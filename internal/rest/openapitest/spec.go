// Package openapitest holds a server to the description of its REST API, which is
// made of its routes: for tests.
//
//	spec, err := openapitest.Load(router.OpenAPI())
//	spec.Complaints()                        // must be none
//	client.Transport = spec.Transport(base, client.Transport) // every exchange is as described
//	spec.Replay(ctx, client, base, signIn)   // every example does what it says
package openapitest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
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

// Operation is one method of one path.
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

	described *openapi3.Operation
}

// Operations returns all of them: what creates first, then what changes, then
// what reads; each by path.
func (s *Spec) Operations() (all []Operation, err error) {
	for path, item := range s.doc.Paths.Map() {
		for method, op := range item.Operations() {
			one := Operation{Method: method, Path: path, described: op, Open: op.Security != nil && len(*op.Security) == 0,
				Conditional: op.Parameters.GetByInAndName(openapi3.ParameterInHeader, "If-Match") != nil}
			if ok := op.Responses.Value("200"); ok != nil {
				one.Stream = ok.Value.Content["text/event-stream"] != nil
			}
			if op.RequestBody != nil {
				one.Body = slices.Sorted(maps.Keys(op.RequestBody.Value.Content))
				one.Bare = !op.RequestBody.Value.Required
			}
			if err := one.setURL(append(slices.Clone(item.Parameters), op.Parameters...)); err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	order := []string{http.MethodPost, http.MethodPut, http.MethodGet, http.MethodDelete}
	slices.SortFunc(all, func(a, b Operation) int {
		return cmp.Or(slices.Index(order, a.Method)-slices.Index(order, b.Method), cmp.Compare(a.Path, b.Path))
	})
	return all, nil
}

// setURL fills the path and the query with the examples of their parameters; of
// the query's, only those that are required.
func (op *Operation) setURL(parameters openapi3.Parameters) error {
	path, query := op.Path, url.Values{}
	for _, p := range parameters {
		inPath := p.Value.In == openapi3.ParameterInPath
		if p.Value.In == openapi3.ParameterInQuery {
			op.Query = append(op.Query, p.Value.Name)
		}
		switch {
		case !inPath && (!p.Value.Required || p.Value.In != openapi3.ParameterInQuery):
		case p.Value.Example == nil:
			return fmt.Errorf("%s: the parameter %s has no example", op.Path, p.Value.Name)
		case inPath:
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(fmt.Sprint(p.Value.Example)))
		default:
			query.Set(p.Value.Name, fmt.Sprint(p.Value.Example))
		}
	}
	slices.Sort(op.Query)
	if op.URL = path; len(query) > 0 {
		op.URL += "?" + query.Encode()
	}
	return nil
}

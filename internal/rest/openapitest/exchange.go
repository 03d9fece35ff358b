package openapitest

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// general are the statuses that any operation may answer, as the introduction
// says, without listing them.
var general = []int{
	http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusPreconditionFailed, http.StatusUnsupportedMediaType,
	http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
}

// Transport sends requests by next (nil: the default one) and gives an error
// instead of an answer that is not as described: its status, its body, and the
// request where the answer is a success. Paths that are not described pass.
func (s *Spec) Transport(base string, next http.RoundTripper) (http.RoundTripper, error) {
	doc := *s.doc
	doc.Servers = openapi3.Servers{{URL: base}}
	router, err := gorillamux.NewRouter(&doc)
	if err != nil {
		return nil, fmt.Errorf("finding operations by path: %w", err)
	}
	if next == nil {
		next = http.DefaultTransport
	}
	return &transport{next, router}, nil
}

type transport struct {
	next   http.RoundTripper
	router routers.Router
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := drain(r.Body)
	if err != nil {
		return nil, err
	}
	out := r.Clone(r.Context())
	out.Body = io.NopCloser(bytes.NewReader(sent))
	res, err := t.next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	got, err := drain(res.Body)
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(got))
	if err := t.check(r, sent, res, got); err != nil {
		return nil, fmt.Errorf("%s %s answered %d, which is not as described: %w", r.Method, r.URL.Path, res.StatusCode, err)
	}
	return res, nil
}

func drain(body io.ReadCloser) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	b, err := io.ReadAll(body)
	body.Close()
	return b, err
}

func (t *transport) check(r *http.Request, sent []byte, res *http.Response, got []byte) error {
	asked := r.Clone(r.Context())
	if asked.Method == http.MethodHead {
		asked.Method = http.MethodGet
	}
	asked.Body = io.NopCloser(bytes.NewReader(sent))
	route, params, err := t.router.FindRoute(asked)
	if err != nil {
		return nil // not described: a page, or what is nowhere
	}
	in := &openapi3filter.RequestValidationInput{
		Request: asked, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, MultiError: true,
			// Members that are only read may be sent back.
			ExcludeReadOnlyValidations: true,
			ExcludeResponseBody:        r.Method == http.MethodHead || !isJSON(res.Header),
		},
	}
	if res.StatusCode < http.StatusBadRequest {
		if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
			return fmt.Errorf("the request: %w", err)
		}
	}
	if slices.Contains(general, res.StatusCode) {
		return nil
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: res.StatusCode, Header: res.Header, Options: in.Options,
	}
	return openapi3filter.ValidateResponse(r.Context(), out.SetBodyBytes(got))
}

func isJSON(h http.Header) bool {
	mediaType, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return mediaType == "application/json"
}

package openapitest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Replay does to a server at base what the description shows: it sends every
// example of a request, and asks for everything that can be read, signed in by
// signIn as a user with SYS_ADMIN. Give it a server with a connection "main"
// and nothing else, and a client with the Transport of the Spec.
//
// An example of a request must be answered with the status under which an
// example of that name stands, else with any success. A request without a body
// is like one called "fresh": where it is about something that such a server
// does not have, the error has an example of that name. An error must be the one
// shown; a success must have the members shown, since ids and times differ.
func (s *Spec) Replay(ctx context.Context, client *http.Client, base string, signIn func(*http.Request)) error {
	return replay(ctx, client, base, s.operations(), signIn)
}

// ReplayAll is Replay for the paths that begin with prefix, on a server that has
// what they are about: what can succeed must, whatever a server with nothing in
// it answers.
func (s *Spec) ReplayAll(ctx context.Context, client *http.Client, base, prefix string, signIn func(*http.Request)) error {
	var all []operation
	for _, op := range s.operations() {
		if strings.HasPrefix(op.path, prefix) {
			op.succeeds = op.canSucceed()
			all = append(all, op)
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("no path begins with %s", prefix)
	}
	return replay(ctx, client, base, all, signIn)
}

func replay(ctx context.Context, client *http.Client, base string, all []operation, signIn func(*http.Request)) error {
	var errs []error
	for _, op := range all {
		target, err := op.url(base)
		switch {
		case op.method == http.MethodDelete, op.endless():
		case err != nil:
			errs = append(errs, err)
		case op.RequestBody == nil:
			errs = append(errs, op.send(ctx, client, target, onFresh, sample{}, signIn))
		default:
			samples := op.samples()
			if len(samples) == 0 {
				errs = append(errs, fmt.Errorf("%s %s has no example", op.method, op.path))
			}
			for _, name := range slices.Sorted(maps.Keys(samples)) {
				errs = append(errs, op.send(ctx, client, target, name, samples[name], signIn))
			}
		}
	}
	return errors.Join(errs...)
}

// onFresh names the example of what a server with nothing in it answers.
const onFresh = "fresh"

// sample is a request body that the description shows; "" is none.
type sample struct{ mediaType, text string }

// samples are the examples of the request body by name. One that is no JSON is
// a text, sent as it is.
func (op operation) samples() map[string]sample {
	all := map[string]sample{}
	for mediaType, content := range op.RequestBody.Value.Content {
		for name, example := range content.Examples {
			text, ok := example.Value.Value.(string)
			if !ok || mediaType == "application/json" {
				encoded, _ := json.Marshal(example.Value.Value) // it came from YAML
				text = string(encoded)
			}
			all[name] = sample{mediaType, text}
		}
	}
	return all
}

// url fills the path and the query with the examples of their parameters; of
// the query's, only those that are required.
func (op operation) url(base string) (string, error) {
	path, query := op.path, url.Values{}
	for _, p := range append(slices.Clone(op.item.Parameters), op.Parameters...) {
		inPath := p.Value.In == openapi3.ParameterInPath
		switch {
		case !inPath && (!p.Value.Required || p.Value.In != openapi3.ParameterInQuery):
		case p.Value.Example == nil:
			return "", fmt.Errorf("%s: the parameter %s has no example", op.path, p.Value.Name)
		case inPath:
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(fmt.Sprint(p.Value.Example)))
		default:
			query.Set(p.Value.Name, fmt.Sprint(p.Value.Example))
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return strings.TrimRight(base, "/") + path, nil
}

// endless reports whether the answer is a stream of events, which goes on.
func (op operation) endless() bool {
	ok := op.Responses.Value("200")
	return ok != nil && ok.Value.Content["text/event-stream"] != nil
}

// setHeaders adds to a request the examples of the headers that are required.
func (op operation) setHeaders(h http.Header) {
	for _, p := range op.Parameters {
		if p.Value.In == openapi3.ParameterInHeader && p.Value.Required {
			h.Set(p.Value.Name, fmt.Sprint(p.Value.Example))
		}
	}
}

// send sends one request and judges the answer.
func (op operation) send(ctx context.Context, client *http.Client, target, name string, body sample, signIn func(*http.Request)) error {
	r, err := http.NewRequestWithContext(ctx, op.method, target, nil)
	if err != nil {
		return err
	}
	if body.text != "" {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body.text)), int64(len(body.text))
		r.Header.Set("Content-Type", body.mediaType)
	}
	op.setHeaders(r.Header)
	if op.Security == nil || len(*op.Security) > 0 {
		signIn(r)
	}
	res, err := client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if err := op.judge(name, res.StatusCode, answer); err != nil {
		return fmt.Errorf("%s %s, example %q: %w", op.method, op.path, name, err)
	}
	return nil
}

func (op operation) judge(name string, status int, answer []byte) error {
	shown, want := op.shown(name)
	switch {
	case op.method == http.MethodHead: // which shows no example: of what it asks for, the server has one or none
		if status > 299 && status != http.StatusNotFound {
			return fmt.Errorf("answered %d", status)
		}
		return nil
	case shown == nil && (status < 200 || status > 299):
		return fmt.Errorf("answered %d %s", status, answer)
	case shown == nil:
		return nil
	case status != want:
		return fmt.Errorf("answered %d instead of %d: %s", status, want, answer)
	}
	var got any
	if err := json.Unmarshal(answer, &got); err != nil {
		return err
	}
	if status >= http.StatusBadRequest {
		if !reflect.DeepEqual(plain(shown), got) {
			return fmt.Errorf("answered %s, and the example shows %v", answer, shown)
		}
		return nil
	}
	if a, b := members(got), members(shown); !slices.Equal(a, b) {
		return fmt.Errorf("answered the members %v, and the example shows %v", a, b)
	}
	return nil
}

// shown is the example of that name among the answers, and its status.
func (op operation) shown(name string) (any, int) {
	for status, response := range op.Responses.Map() {
		if op.succeeds && !isSuccess(status) {
			continue
		}
		if content := response.Value.Content["application/json"]; content != nil && name != "" && content.Examples[name] != nil {
			code, _ := strconv.Atoi(status)
			return content.Examples[name].Value.Value, code
		}
	}
	return nil, 0
}

func isSuccess(status string) bool { return strings.HasPrefix(status, "2") }

// canSucceed reports whether the description has a success.
func (op operation) canSucceed() bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(op.Responses.Map())), isSuccess)
}

// plain returns a value of YAML as JSON would be read.
func plain(v any) any {
	text, _ := json.Marshal(v)
	var out any
	_ = json.Unmarshal(text, &out)
	return out
}

func members(v any) []string {
	object, _ := v.(map[string]any)
	return slices.Sorted(maps.Keys(object))
}

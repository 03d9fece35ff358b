package openapitest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
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
	return s.replay(ctx, client, base, "", false, signIn)
}

// ReplayAll is Replay for the paths that begin with prefix, on a server that has
// what they are about: what can succeed must, whatever a server with nothing in
// it answers.
func (s *Spec) ReplayAll(ctx context.Context, client *http.Client, base, prefix string, signIn func(*http.Request)) error {
	return s.replay(ctx, client, base, prefix, true, signIn)
}

func (s *Spec) replay(ctx context.Context, client *http.Client, base, prefix string, full bool, signIn func(*http.Request)) error {
	all, err := s.Operations()
	if err != nil {
		return err
	}
	var errs []error
	found := false
	for _, op := range all {
		if !strings.HasPrefix(op.Path, prefix) {
			continue
		}
		found = true
		if op.Method == http.MethodDelete || op.Stream {
			continue
		}
		x := exchange{op, client, base, signIn, full && op.canSucceed()}
		if op.described.RequestBody == nil {
			errs = append(errs, x.send(ctx, onFresh, sample{}))
			continue
		}
		samples := op.samples()
		if len(samples) == 0 {
			errs = append(errs, fmt.Errorf("%s %s has no example", op.Method, op.Path))
		}
		for _, name := range slices.Sorted(maps.Keys(samples)) {
			errs = append(errs, x.send(ctx, name, samples[name]))
		}
	}
	if !found {
		errs = append(errs, fmt.Errorf("no path begins with %s", prefix))
	}
	return errors.Join(errs...)
}

// exchange is an operation that is asked of a server.
type exchange struct {
	Operation
	client   *http.Client
	base     string
	signIn   func(*http.Request)
	succeeds bool // its error examples are of another server
}

// onFresh names the example of what a server with nothing in it answers.
const onFresh = "fresh"

// sample is a request body that the description shows; "" is none.
type sample struct{ mediaType, text string }

// samples are the examples of the request body by name. One that is no JSON is
// a text, sent as it is.
func (op Operation) samples() map[string]sample {
	all := map[string]sample{}
	for mediaType, content := range op.described.RequestBody.Value.Content {
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

// send sends one request and judges the answer.
func (x exchange) send(ctx context.Context, name string, body sample) error {
	r, err := http.NewRequestWithContext(ctx, x.Method, strings.TrimRight(x.base, "/")+x.URL, nil)
	if err != nil {
		return err
	}
	if body.text != "" {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body.text)), int64(len(body.text))
		r.Header.Set("Content-Type", body.mediaType)
	}
	for _, p := range x.described.Parameters {
		if p.Value.In == openapi3.ParameterInHeader && p.Value.Required {
			r.Header.Set(p.Value.Name, fmt.Sprint(p.Value.Example))
		}
	}
	if !x.Open {
		x.signIn(r)
	}
	res, err := x.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if err := x.judge(name, res.StatusCode, answer); err != nil {
		return fmt.Errorf("%s %s, example %q: %w", x.Method, x.Path, name, err)
	}
	return nil
}

func (x exchange) judge(name string, status int, answer []byte) error {
	shown, want := x.shown(name)
	switch {
	case x.Method == http.MethodHead: // which shows no example: of what it asks for, the server has one or none
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
func (x exchange) shown(name string) (any, int) {
	for status, response := range x.described.Responses.Map() {
		if x.succeeds && !isSuccess(status) {
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
func (op Operation) canSucceed() bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(op.described.Responses.Map())), isSuccess)
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

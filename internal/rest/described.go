package rest

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"

	"outrigger/internal/fault"
)

// described is an operation in the description, without the types that it was
// declared with.
type described struct {
	route    Route
	words    Words
	status   int
	input    *binding
	output   reflect.Type // nil: Serve writes it
	examples func() []shown
}

// shown is an example as the description has it.
type shown struct {
	name     string
	status   int
	request  any // nil: it has no body
	response any // nil: nothing is shown
}

func describeOperation[In, Out any](op *Operation[In, Out], in *binding) described {
	d := described{route: op.Route, words: op.Words, status: op.success(), input: in}
	if op.Serve == nil {
		d.output = reflect.TypeFor[Out]()
	}
	d.examples = func() []shown { return op.shown(in) }
	return d
}

func (op *Operation[In, Out]) shown(in *binding) (all []shown) {
	for _, e := range op.Examples {
		s := shown{name: e.Name, status: op.success()}
		if in.hasBody() {
			s.request = jsonOf(e.In)
		}
		switch {
		case e.Err != nil:
			body := bodyOf(fault.As(e.Err))
			s.status, s.response = body.Status, jsonOf(body)
		case e.Out != nil:
			s.response = jsonOf(*e.Out)
		}
		all = append(all, s)
	}
	return all
}

// jsonOf is a value as its JSON reads.
func jsonOf(v any) any {
	text, err := json.Marshal(v, jsonOptions)
	if err != nil {
		panic(err)
	}
	var out any // in the order of its members, and with whole numbers
	if err := yaml.UnmarshalWithOptions(text, &out, yaml.UseOrderedMap()); err != nil {
		panic(err)
	}
	return out
}

// document is the operation in OpenAPI 3.1.
func (d *described) document(s schemas) yaml.MapSlice {
	out := yaml.MapSlice{
		{Key: "tags", Value: []string{d.words.Tag}}, {Key: "operationId", Value: d.words.ID}, {Key: "summary", Value: d.words.Summary},
	}
	add := func(key string, value any) { out = append(out, yaml.MapItem{Key: key, Value: value}) }
	if d.words.Text != "" {
		add("description", d.words.Text)
	}
	if d.route.Access == Anyone {
		add("security", []string{})
	}
	if parameters := d.parameters(s); len(parameters) > 0 {
		add("parameters", parameters)
	}
	if d.input.hasBody() {
		add("requestBody", yaml.MapSlice{{Key: "required", Value: true}, content("application/json", d.request(s), d.requests())})
	}
	add("responses", d.responses(s))
	return out
}

func (d *described) parameters(s schemas) (all []yaml.MapSlice) {
	words := memberWords(d.input.input)
	add := func(p parameter, in string, required bool) {
		one := yaml.MapSlice{{Key: "name", Value: p.name}, {Key: "in", Value: in}, {Key: "schema", Value: s.valued(p.field)}}
		if required {
			one = append(one, yaml.MapItem{Key: "required", Value: true})
		}
		all = append(all, append(one, told(p.field, words[p.name])...))
	}
	for _, p := range d.input.path {
		add(p, "path", true)
	}
	for _, p := range d.input.query {
		add(p, "query", false)
	}
	if d.input.page != nil {
		all = append(all, reference("parameters", "limit"), reference("parameters", "after"))
	}
	if d.words.Confirmed {
		all = append(all, reference("parameters", "code"))
	}
	return all
}

// request is the schema of the body.
func (d *described) request(s schemas) yaml.MapSlice {
	out := s.object(d.input.input)
	for _, t := range d.input.ignored {
		s.readOnly(out, t, d.input.body)
	}
	return out
}

// requests are the bodies that are shown.
func (d *described) requests() (all yaml.MapSlice) {
	for _, e := range d.examples() {
		all = append(all, example(e.name, e.request))
	}
	return all
}

// responses are the success and what can go wrong.
func (d *described) responses(s schemas) (all yaml.MapSlice) {
	success := yaml.MapSlice{{Key: "description", Value: d.words.Answer}}
	switch {
	case d.words.Media != "":
		success = append(success, content(d.words.Media, yaml.MapSlice{{Key: "type", Value: "string"}}, nil))
	case d.output != reflect.TypeFor[None]():
		answer := content("application/json", s.of(d.output), d.answers(d.status))
		if d.route.XML {
			answer.Value = append(answer.Value.(yaml.MapSlice), content("application/xml", s.of(d.output), nil).Value.(yaml.MapSlice)...)
		}
		success = append(success, answer)
	}
	all = append(all, yaml.MapItem{Key: strconv.Itoa(d.status), Value: success})
	for _, status := range d.refusals() {
		one := reference("responses", refusals[status])
		if examples := d.answers(status); len(examples) > 0 {
			one = yaml.MapSlice{
				{Key: "description", Value: "See `message`."},
				content("application/json", reference("schemas", "Error"), examples),
			}
		}
		all = append(all, yaml.MapItem{Key: strconv.Itoa(status), Value: one})
	}
	return all
}

// answers are the examples that have a status.
func (d *described) answers(status int) (all yaml.MapSlice) {
	for _, e := range d.examples() {
		if e.status == status && e.response != nil {
			all = append(all, example(e.name, e.response))
		}
	}
	return all
}

func example(name string, value any) yaml.MapItem {
	return yaml.MapItem{Key: name, Value: yaml.MapSlice{{Key: "value", Value: value}}}
}

// refusals are the statuses of what can go wrong, each once.
func (d *described) refusals() []int {
	all := slices.Clone(d.words.Refused)
	if len(d.input.query) > 0 || d.input.page != nil || d.input.hasBody() {
		all = append(all, http.StatusBadRequest)
	}
	if d.input.hasBody() {
		all = append(all, http.StatusRequestEntityTooLarge)
	}
	if len(d.input.path) > 0 {
		all = append(all, http.StatusNotFound)
	}
	if d.route.Access != Anyone {
		all = append(all, http.StatusUnauthorized)
	}
	if d.route.Access > Anyone && d.route.Access != Builds {
		all = append(all, http.StatusForbidden)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// refusals are the answers of the description by their statuses.
var refusals = map[int]string{
	http.StatusBadRequest: "Invalid", http.StatusUnauthorized: "Unauthenticated", http.StatusForbidden: "Forbidden", http.StatusNotFound: "NotFound",
	http.StatusConflict: "Conflict", http.StatusRequestEntityTooLarge: "TooLarge", http.StatusServiceUnavailable: "Unavailable",
}

func content(media string, schema, examples yaml.MapSlice) yaml.MapItem {
	of := yaml.MapSlice{{Key: "schema", Value: schema}}
	if len(examples) > 0 {
		of = append(of, yaml.MapItem{Key: "examples", Value: examples})
	}
	return yaml.MapItem{Key: "content", Value: yaml.MapSlice{{Key: media, Value: of}}}
}

// paths are the operations by their paths.
func paths(all []described, s schemas) yaml.MapSlice {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b described) int { return cmp.Compare(a.route.Path, b.route.Path) })
	var out yaml.MapSlice
	for i := range all {
		path := strings.ReplaceAll(all[i].route.Path, "...}", "}")
		operation := yaml.MapItem{Key: strings.ToLower(all[i].route.Method), Value: all[i].document(s)}
		if n := len(out); n > 0 && out[n-1].Key == path {
			out[n-1].Value = append(out[n-1].Value.(yaml.MapSlice), operation)
			continue
		}
		out = append(out, yaml.MapItem{Key: path, Value: yaml.MapSlice{operation}})
	}
	return out
}

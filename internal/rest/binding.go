package rest

import (
	"bufio"
	"cmp"
	"context"
	"encoding"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// binding is where the members of an operation's input come from.
type binding struct {
	input       reflect.Type
	path, query []parameter
	header      []parameter
	body        map[string][]int // the members of the body, by their names
	bare        bool             // the body may be left out
	ignored     []reflect.Type   // whose members the body may have too
	page, wrong []int            // nil: the input has none
	match       []int            // nil: it has none
	embeds      bool             // the answer's type, of which it needs some members only
}

// parameter is a member of the input that has a name of its own in the path, query or header.
type parameter struct {
	name  string
	field reflect.StructField
}

func newBinding(input reflect.Type, route Route) *binding {
	b := &binding{input: input, bare: route.Bare}
	if route.Method != http.MethodGet && route.Method != http.MethodDelete {
		b.body = membersOf(b.input)
	}
	for _, f := range reflect.VisibleFields(b.input) {
		path, query, member := f.Tag.Get("path"), f.Tag.Get("query"), f.Tag.Get("json")
		if _, some := f.Tag.Lookup("requires"); some {
			b.embeds = true
		}
		of, ignored := reflect.Zero(f.Type).Interface().(interface{ ignored() reflect.Type })
		switch {
		case f.Type == reflect.TypeFor[Page]():
			b.page = f.Index
		case f.Type == reflect.TypeFor[Match]():
			b.match = f.Index
		case f.Type == reflect.TypeFor[fault.Fields]():
			b.wrong = f.Index
		case ignored && f.Type.NumField() > 0: // it embeds one, which comes itself
		case ignored:
			b.ignored = append(b.ignored, of.ignored())
		case path != "":
			b.path = append(b.path, parameter{path, f})
		case f.Tag.Get("header") != "":
			b.header = append(b.header, parameter{f.Tag.Get("header"), f})
		case query != "" && (b.body == nil || noMember(member)):
			b.query = append(b.query, parameter{query, f})
		case member == "" && query == "" && !f.Anonymous:
			panic(fmt.Sprintf("rest: %s.%s does not say where it comes from", b.input, f.Name))
		}
	}
	return b
}

// ignored is T.
func (Ignored[T]) ignored() reflect.Type { return reflect.TypeFor[T]() }

// names are the parameters of the query.
func (b *binding) names() []string {
	var names []string
	for _, p := range b.query {
		names = append(names, p.name)
	}
	if b.page != nil {
		return paged(names...)
	}
	return names
}

// hasBody reports whether requests have one.
func (b *binding) hasBody() bool { return len(b.body) > 0 }

// read fills in, a pointer to the input, from a request. The error names every
// member that is wrong, unless the input itself takes that.
func (b *binding) read(r *http.Request, in any) error {
	to := reflect.ValueOf(in).Elem()
	var wrong fault.Fields
	for _, p := range b.path {
		if set(to.FieldByIndex(p.field.Index), r.PathValue(p.name)) != nil {
			return missing(r.Context(), cmp.Or(p.field.Tag.Get("of"), p.name), r.PathValue(p.name))
		}
	}
	if b.page != nil {
		page, err := readPage(r)
		if err := wrong.Join(err); err != nil {
			return err
		}
		to.FieldByIndex(b.page).Set(reflect.ValueOf(page))
	}
	if b.match != nil {
		to.FieldByIndex(b.match).Set(reflect.ValueOf(matchOf(r)))
	}
	query := r.URL.Query()
	readEach(b.query, func(name string) []string { return query[name] }, to, &wrong)
	readEach(b.header, r.Header.Values, to, &wrong)
	if b.hasBody() && !(b.bare && isEmpty(r)) {
		if err := wrong.Join(b.readBody(r, to)); err != nil {
			return err
		}
	}
	if b.wrong == nil {
		return wrong.Err()
	}
	to.FieldByIndex(b.wrong).Set(reflect.ValueOf(wrong))
	return nil
}

// missing is the answer for what cannot be. Who has signed in and has less than
// SYS_ADMIN gets the same 403 as for what exists and is foreign.
func missing(ctx context.Context, what, id string) error {
	if identity.From(ctx) == nil {
		return fault.New(fault.NotFound, "There is no %s %q.", what, id)
	}
	return identity.Missing(ctx, "There is no %s %q.", what, id)
}

// isEmpty reports whether a request has no body.
func isEmpty(r *http.Request) bool {
	body := bufio.NewReader(r.Body)
	_, err := body.Peek(1)
	r.Body = io.NopCloser(body)
	return errors.Is(err, io.EOF)
}

// readEach reads parameters.
func readEach(all []parameter, given func(string) []string, to reflect.Value, wrong *fault.Fields) {
	for _, p := range all {
		texts, member := given(p.name), to.FieldByIndex(p.field.Index)
		if p.isAbsent(texts, member) {
			continue
		}
		text := ""
		if len(texts) > 0 {
			text = texts[0]
		}
		if err := set(member, text); err != nil {
			wrong.Add(p.name, "%s", err)
		}
	}
}

// isAbsent reports whether there is nothing to read. An empty text counts as absent,
// but for a pointer. A type that reads its own text says also that there is none where
// there must be one.
func (p *parameter) isAbsent(texts []string, member reflect.Value) bool {
	_, own := member.Addr().Interface().(encoding.TextUnmarshaler)
	switch {
	case member.Kind() == reflect.Pointer:
		return len(texts) == 0
	case own && p.field.Tag.Get("required") != "":
		return false
	}
	return len(texts) == 0 || texts[0] == ""
}

// set writes a text into a member. The error is a sentence about the text.
func set(to reflect.Value, text string) error {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		return set(to.Elem(), text)
	}
	switch member := to.Addr().Interface().(type) {
	case *time.Time:
		at, err := time.Parse(time.RFC3339, text)
		*member = at
		return should(text, "a time; write it as in 2026-03-01T00:00:00Z", err == nil)
	case encoding.TextUnmarshaler:
		return member.UnmarshalText([]byte(text))
	}
	switch to.Kind() {
	case reflect.Bool:
		to.SetBool(text == "true")
		return should(text, "true or false", text == "true" || text == "false")
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, to.Type().Bits())
		if err == nil {
			to.SetInt(n)
		}
		return should(text, "a whole number", err == nil)
	}
	to.SetString(text)
	return nil
}

// should is the error about a text that is not what it should be.
func should(text, be string, is bool) error {
	if is {
		return nil
	}
	return fault.New(fault.Invalid, "%q is not %s.", text, be)
}

// readBody reads the members that the input has, and passes over those that it
// ignores.
func (b *binding) readBody(r *http.Request, to reflect.Value) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	known := map[string]reflect.Value{}
	for _, t := range b.ignored {
		maps.Copy(known, fieldsOf(reflect.New(t).Interface()))
	}
	for name, index := range b.body {
		known[name] = to.FieldByIndex(index)
	}
	return decode(body, known)
}

package rest

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"strconv"
	"time"
)

// Words describe an operation.
type Words struct {
	ID      string   // operationId
	Tag     string   // one of those that the description has
	Summary string   // what it does, as in "Saves the settings."
	Text    string   // what else a caller must know, in Markdown
	Answer  string   // what a success gives
	Status  int      // of a success; 0: 200, or 204 where there is no body. 400: it is always refused
	Media   []string // of what Serve answers, beside the JSON of Out where that is no string
	// Headers of a success, of those in headerWords.
	Headers []string
	Also    []Success // other successes
	// Takes are the media types of a body that is read by what Serve or Handle adds.
	Takes []Media
	// Confirmed: it needs more than a token; see the header Outrigger-Code.
	Confirmed bool
	// Refused are the statuses beside those that follow from the route and the
	// input: 400, 401, 403, 404 of a path with wildcards, 413.
	Refused []int
	// RefusedFor has words for the statuses of which the usual ones say too little.
	RefusedFor map[int]string
}

// Success is a status of an operation that did what it should.
type Success struct {
	Status  int
	Text    string
	Headers []string
	Of      any // a value of what it answers; nil: what the operation answers
}

// Media is a body that is no JSON of an operation's members.
type Media struct {
	Type     string
	Examples map[string]any
}

// Example is a request that the description shows, and what it is answered with:
// Out where that is not nil, Err where that is not. Tests send it.
type Example[In, Out any] struct {
	Name string
	In   In
	Out  *Out
	Err  error
	// Unsent: it shows an answer and no request.
	Unsent bool
}

// None is the output of an operation whose answer has no body.
type None struct{}

// Done is the function of an operation that answers nothing.
func Done[In any](do func(context.Context, In) error) func(context.Context, In) (None, error) {
	return func(ctx context.Context, in In) (None, error) { return None{}, do(ctx, in) }
}

// Answer is an output with more than a body. Words name the headers.
type Answer[T any] struct {
	Body           T
	Status         int // 0: that of the operation
	Location, ETag string
	RetryAfter     time.Duration // 0: nothing is said
}

// Created answers with what was created and the path where it is.
func Created[T any](ctx context.Context, body T, path string) Answer[T] {
	return Answer[T]{Body: body, Location: Link(ctx, path)}
}

// AnyOf, embedded in an output, says that the answer is one of its members: the first
// that is not nil.
type AnyOf struct{}

func (AnyOf) anyOf() {}

// chosen is the member that an AnyOf is; any other output is itself.
func chosen(out any) any {
	if _, ok := out.(interface{ anyOf() }); !ok {
		return out
	}
	v := reflect.ValueOf(out)
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() != reflect.Struct && !f.IsNil() {
			return f.Interface()
		}
	}
	panic("rest: " + v.Type().String() + " is none of its members")
}

// Ignored in an input are the members of T that the input does not have: what an
// answer shows and cannot be set.
type Ignored[T any] struct{}

// Add adds an operation to the router and to the description: a route, the words of its
// description, and the function that does it. It panics on one whose types cannot be read
// or described. Call it before serving.
//
// In is a struct of what a request gives. Tags say where each member comes from:
//
//	path:"id"      a wildcard of the path, a string or a whole number
//	query:"since"  a parameter of the query: a string, bool, whole number or time.Time,
//	               a type that reads its own text and says in a sentence what is wrong
//	               with it (with required:"true" also that there is none), or a pointer
//	               to one, nil where the query does not have it
//	header:"Name"  a header, likewise
//	json:"name"    a member of the body, which is then required
//
// What a wildcard names that cannot be is answered like what does not exist; the
// tag of says what it is, as in of:"grant". One with query and json comes from the
// query of GET and DELETE, else from the body. A member of type Page is limit and
// after, of type Match the header If-Match, which makes the route Conditional; one of
// type fault.Fields gets what is wrong with the others: with it the function is called
// all the same, so that it can say in one answer what else is wrong; without it the
// answer is 400. Ignored, embedded, are members that a client may send back, and that
// are not read. Where a thing is read and saved in one shape, the input embeds that of
// the answer, with a tag requires:"name,kind" of the members that a request must have.
//
// Out is a struct of what the answer has, as encoding/json writes it; None has no
// body, and the answer is 204; a string is one in Media; Answer[T] has headers and a
// status beside a T; AnyOf is one of several. For the description, members of both have
// the tags doc (what it is; longer words come from MemberWords), example, default, enum
// (values, by commas), min and max (of a text its length, of a number its value, of a
// list how many it has), pattern, format, readonly, and on parameters required.
func Add[In, Out any](rt *Router, route Route, words Words, do func(context.Context, In) (Out, error), examples ...Example[In, Out]) {
	d := newDescribed(rt, route, words, examples)
	rt.handle(d.route, func(w http.ResponseWriter, r *http.Request) error {
		var in In
		if err := d.input.read(r, &in); err != nil {
			return err
		}
		out, err := do(r.Context(), in)
		if err != nil {
			return err
		}
		return d.answer(w, r, out)
	})
}

// Serve is Add for a function that writes the answer itself: as Media, as Out, or either.
func Serve[In, Out any](
	rt *Router, route Route, words Words, serve func(http.ResponseWriter, *http.Request, In) error, examples ...Example[In, Out],
) {
	d := newDescribed(rt, route, words, examples)
	rt.handle(d.route, func(w http.ResponseWriter, r *http.Request) error {
		var in In
		if err := d.input.read(r, &in); err != nil {
			return err
		}
		return serve(w, r, in)
	})
}

// Handle is Serve for a handler that reads the request itself too: In describes it.
func Handle[In, Out any](rt *Router, route Route, words Words, h Handler, examples ...Example[In, Out]) {
	rt.handle(newDescribed(rt, route, words, examples).route, h)
}

func (d *described) answer(w http.ResponseWriter, r *http.Request, out any) error {
	status, out := d.answered(w.Header(), out)
	if _, none := out.(None); none {
		w.WriteHeader(status)
		return nil
	}
	if d.route.XML {
		return Write(w, r, status, out)
	}
	return WriteJSON(w, r, status, out)
}

// answered returns the status and the body of an answer, whose headers it writes.
func (d *described) answered(h http.Header, out any) (status int, body any) {
	status = d.status
	if a, ok := out.(interface{ setHeaders(http.Header) (int, any) }); ok {
		own, body := a.setHeaders(h)
		status, out = cmp.Or(own, status), body
	}
	return status, chosen(out)
}

// setHeaders writes the headers, and returns the status and the body.
func (a Answer[T]) setHeaders(h http.Header) (int, any) {
	for name, text := range map[string]string{"Location": a.Location, "ETag": a.ETag} {
		if text != "" {
			h.Set(name, text)
		}
	}
	if a.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(wholeSeconds(a.RetryAfter)))
	}
	return a.Status, a.Body
}

// body is T.
func (Answer[T]) body() reflect.Type { return reflect.TypeFor[T]() }

// success is the status of an operation that did it.
func success(w Words, out reflect.Type) int {
	switch {
	case w.Status != 0:
		return w.Status
	case out == reflect.TypeFor[None]() && len(w.Media) == 0:
		return http.StatusNoContent
	}
	return http.StatusOK
}

package rest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"outrigger/internal/fault"
)

// fieldsOf returns the fields of the struct that v points to, by their JSON names.
func fieldsOf(v any) map[string]reflect.Value {
	to := reflect.ValueOf(v).Elem()
	fields := map[string]reflect.Value{}
	for name, index := range membersOf(to.Type()) {
		fields[name] = to.FieldByIndex(index)
	}
	return fields
}

// readBody returns the body of a request that should have JSON: the media type is
// application/json, not compressed (else 415), and the body within the route's limit
// (else 413). U+0000, which PostgreSQL cannot keep, is read as U+FFFD.
func readBody(r *http.Request) ([]byte, error) {
	if err := wantJSON(r.Header); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(r.Body)
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, errTooLarge(tooLong.Limit)
	case err != nil:
		return nil, fault.Wrap(err, fault.Invalid, "The body could not be read completely. Send it again.")
	case len(bytes.TrimSpace(body)) == 0:
		return nil, fault.New(fault.Invalid, "The body is empty; send JSON.")
	}
	return replaceNUL(body), nil
}

func wantJSON(h http.Header) error {
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return &httpError{http.StatusUnsupportedMediaType, "Request bodies of this kind are not compressed; send the JSON as it is, without " +
			"Content-Encoding."}
	}
	mediaType, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := params["charset"]
	if err != nil || mediaType != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return &httpError{http.StatusUnsupportedMediaType, "Request bodies are JSON; send Content-Type: application/json."}
	}
	return nil
}

// decode reads an object, each member into the value that is known by its name, in
// exactly its spelling and once. What is wrong with the members is named at once.
func decode(body []byte, known map[string]reflect.Value) error {
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	if dec.PeekKind() != '{' {
		if _, err := dec.ReadValue(); err != nil {
			return errSyntax(err)
		}
		return fault.New(fault.Invalid, "The body must be a JSON object.")
	}
	wrong, err := decodeMembers(dec, known)
	if err != nil {
		return errSyntax(err)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return fault.New(fault.Invalid, "There is more data after the JSON object. Send exactly one object.")
	}
	return wrong.Err()
}

// decodeMembers reads the members and collects what is wrong. The error is that of
// JSON that is none.
func decodeMembers(dec *jsontext.Decoder, members map[string]reflect.Value) (fault.Fields, error) {
	var wrong fault.Fields
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		field, known := members[name]
		if !known {
			noteUnknown(&wrong, name)
			continue
		}
		noteWrong(&wrong, name, json.Unmarshal(value, field.Addr().Interface(), json.RejectUnknownMembers(true)))
	}
	_, err := dec.ReadToken()
	return wrong, err
}

// membersOf returns the JSON names of a struct's fields.
func membersOf(t reflect.Type) map[string][]int {
	members := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || f.Anonymous || name == "-" || elsewhere(f):
			continue
		case name == "":
			name = f.Name
		}
		members[name] = f.Index
	}
	return members
}

// elsewhere reports whether the member of an input does not come from the body.
func elsewhere(f reflect.StructField) bool {
	_, path := f.Tag.Lookup("path")
	_, header := f.Tag.Lookup("header")
	_, query := f.Tag.Lookup("query")
	_, ignored := reflect.Zero(f.Type).Interface().(interface{ ignored() reflect.Type })
	return path || header || query && noMember(f.Tag.Get("json")) || ignored || f.Type == reflect.TypeFor[Page]() ||
		f.Type == reflect.TypeFor[Match]() || f.Type == reflect.TypeFor[fault.Fields]()
}

// noMember reports whether the tag json says that a field is no member of a body.
func noMember(tag string) bool { return tag == "" || tag == "-" }

func noteUnknown(wrong *fault.Fields, name string) {
	wrong.Add(name, "Unknown member %q; remove it or correct its name.", name)
}

// noteWrong notes why the value of a member could not be read, if it could not.
func noteWrong(wrong *fault.Fields, member string, err error) {
	var semantic *json.SemanticError
	switch {
	case err == nil:
	case errors.As(err, &semantic):
		at := memberPath(member, semantic.JSONPointer)
		if semantic.Err == json.ErrUnknownName {
			noteUnknown(wrong, at)
			return
		}
		wrong.Add(at, "%s", wantText(at, semantic))
	default:
		wrong.Add(member, "The value cannot be read: %s.", err)
	}
}

// memberPath writes a place inside a member as in repositories[2].projectKey.
func memberPath(member string, p jsontext.Pointer) string {
	var b strings.Builder
	b.WriteString(member)
	for token := range p.Tokens() {
		if _, err := strconv.Atoi(token); err == nil {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	return b.String()
}

// wantText says what a member must be.
func wantText(at string, e *json.SemanticError) string {
	t := e.GoType
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return fmt.Sprintf("The value of %s cannot be read.", at)
	case t == reflect.TypeFor[time.Time]():
		return fmt.Sprintf("%s must be a time as in RFC 3339, such as 2026-01-31T09:00:00Z.", at)
	case e.Err != nil && e.JSONKind == '"' && t.Kind() != reflect.Int64:
		return fmt.Sprintf("%s: %s.", at, e.Err) // a type that reads its own text
	}
	return fmt.Sprintf("%s must be %s.", at, kindText(t.Kind()))
}

func kindText(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a whole number of at most 64 bits"
}

func errSyntax(err error) error {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fault.New(fault.Invalid, "The member %q is given twice; give it once.", memberPath("", syntactic.JSONPointer))
		}
		return fault.Wrap(err, fault.Invalid, "The body is not valid JSON: %s at byte %d.", syntactic.Err, syntactic.ByteOffset)
	}
	return fault.Wrap(err, fault.Invalid, "The body is not valid JSON: it ends too early.")
}

// replaceNUL replaces the escape of U+0000 by that of U+FFFD. A backslash that
// is itself escaped begins no escape.
func replaceNUL(body []byte) []byte {
	for i := 0; i+1 < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(body[i:], []byte(`\u0000`)) {
			copy(body[i:], `\ufffd`)
		}
		i++
	}
	return body
}

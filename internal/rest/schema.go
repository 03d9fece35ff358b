package rest

import (
	"cmp"
	"encoding"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
)

// schemas are those of the types that operations name, by their names. A type with
// an exported name has a schema of its own.
type schemas map[string]schema

type schema struct {
	of   reflect.Type
	text yaml.MapSlice
}

// names are those of the types, sorted.
func (s schemas) names() []string { return slices.Sorted(maps.Keys(s)) }

// of is the schema of a type, or a reference to it.
func (s schemas) of(t reflect.Type) yaml.MapSlice {
	switch {
	case t == reflect.TypeFor[jsontext.Value]():
		return yaml.MapSlice{} // anything
	case t.Kind() == reflect.Pointer:
		return s.of(t.Elem())
	case t == reflect.TypeFor[time.Time]():
		return yaml.MapSlice{{Key: "type", Value: "string"}, {Key: "format", Value: "date-time"}}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return yaml.MapSlice{{Key: "type", Value: "string"}}
	}
	switch t.Kind() {
	case reflect.String:
		out := yaml.MapSlice{{Key: "type", Value: "string"}}
		if of, ok := reflect.Zero(t).Interface().(Enumerated); ok {
			out = append(out, yaml.MapItem{Key: "enum", Value: of.Values()})
		}
		return out
	case reflect.Bool:
		return yaml.MapSlice{{Key: "type", Value: "boolean"}}
	case reflect.Int, reflect.Int64:
		return yaml.MapSlice{{Key: "type", Value: "integer"}, {Key: "format", Value: "int64"}}
	case reflect.Float64:
		return yaml.MapSlice{{Key: "type", Value: "number"}}
	case reflect.Slice:
		return yaml.MapSlice{{Key: "type", Value: "array"}, {Key: "items", Value: s.of(t.Elem())}}
	case reflect.Map:
		return yaml.MapSlice{{Key: "type", Value: "object"}, {Key: "additionalProperties", Value: s.of(t.Elem())}}
	case reflect.Interface:
		return yaml.MapSlice{} // anything
	case reflect.Struct:
		return s.named(t)
	}
	panic(fmt.Sprintf("rest: %s cannot be described", t))
}

// named describes a struct: in its place, or under its name where that is exported.
func (s schemas) named(t reflect.Type) yaml.MapSlice {
	name := t.Name()
	if name == "" || name[0] < 'A' || name[0] > 'Z' || strings.Contains(name, "[") {
		return s.object(t)
	}
	if known, ok := s[name]; ok && known.of != t {
		panic(fmt.Sprintf("rest: %s.%s and %s.%s have one name in the description", path.Base(known.of.PkgPath()), name, path.Base(t.PkgPath()),
			name))
	}
	if _, known := s[name]; !known {
		s[name] = schema{of: t} // for what is in itself
		s[name] = schema{t, s.object(t)}
	}
	return reference("schemas", name)
}

// object describes the members of a struct that are in JSON.
func (s schemas) object(t reflect.Type) yaml.MapSlice {
	if t.Implements(reflect.TypeFor[interface{ anyOf() }]()) {
		return s.anyOf(t)
	}
	words := memberWords(t)
	var required []string
	var members yaml.MapSlice
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || elsewhere(f) {
			continue
		}
		if isRequired(t, f, name, options) {
			required = append(required, name)
		}
		members = append(members, yaml.MapItem{Key: name, Value: s.member(f, words[name])})
	}
	out := yaml.MapSlice{{Key: "type", Value: "object"}}
	if root, ok := t.FieldByName("XMLName"); ok {
		out = append(out, yaml.MapItem{Key: "xml", Value: yaml.MapSlice{{Key: "name", Value: root.Tag.Get("xml")}}})
	}
	if len(required) > 0 {
		out = append(out, yaml.MapItem{Key: "required", Value: required})
	}
	if text := words[""]; text != "" {
		out = append(out, yaml.MapItem{Key: "description", Value: text})
	}
	return append(out, yaml.MapItem{Key: "additionalProperties", Value: false}, yaml.MapItem{Key: "properties", Value: members})
}

// isRequired reports whether who writes a t must write the member. Of the members of
// an answer that an input embeds, the input says so.
func isRequired(t reflect.Type, f reflect.StructField, name, options string) bool {
	for n := 1; n < len(f.Index); n++ {
		if names, some := t.FieldByIndex(f.Index[:n]).Tag.Lookup("requires"); some {
			return slices.Contains(strings.Split(names, ","), name)
		}
	}
	return !strings.Contains(options, "omit")
}

// anyOf describes the members of which one is the answer.
func (s schemas) anyOf(t reflect.Type) yaml.MapSlice {
	var all []yaml.MapSlice
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			all = append(all, append(s.of(f.Type), told(f, "")...))
		}
	}
	return yaml.MapSlice{{Key: "anyOf", Value: all}}
}

// Enumerated is implemented by kinds of text of which there are a few: it returns them.
type Enumerated interface{ Values() []string }

// MemberWords is implemented by inputs and outputs whose members have words too long
// for the tag doc: it returns them by the names of the members in JSON, and of
// parameters; "" has those of the struct itself.
type MemberWords interface{ MemberWords() map[string]string }

func memberWords(t reflect.Type) map[string]string {
	if of, ok := reflect.Zero(t).Interface().(MemberWords); ok {
		return of.MemberWords()
	}
	return nil
}

// member is the schema of a member, with words and what its tags say.
func (s schemas) member(f reflect.StructField, words string) yaml.MapSlice {
	out := append(s.valued(f), bounds(f)...)
	if name := f.Tag.Get("xml"); name != "" && f.Type.Kind() == reflect.Slice {
		out = append(out, yaml.MapItem{Key: "xml", Value: yaml.MapSlice{{Key: "wrapped", Value: false}, {Key: "name", Value: name}}})
	}
	if f.Tag.Get("readonly") != "" {
		out = append(out, yaml.MapItem{Key: "readOnly", Value: true})
	}
	return append(out, told(f, words)...)
}

// valued is the schema of a member's type, with the values that it may have.
func (s schemas) valued(f reflect.StructField) yaml.MapSlice {
	of := s.of(f.Type)
	if _, options, _ := strings.Cut(f.Tag.Get("json"), ","); slices.Contains(strings.Split(options, ","), "string") {
		of = s.of(reflect.TypeFor[string]())
	}
	values := f.Tag.Get("enum")
	if values == "" {
		return of
	}
	enum := yaml.MapItem{Key: "enum", Value: strings.Split(values, ",")}
	if f.Type.Kind() == reflect.Slice { // each of its items
		of[1].Value = append(of[1].Value.(yaml.MapSlice), enum)
		return of
	}
	return append(of, enum)
}

// bounds are what tags say of a member's values.
func bounds(f reflect.StructField) (out yaml.MapSlice) {
	add := func(key string, value any) { out = append(out, yaml.MapItem{Key: key, Value: value}) }
	of := f.Type
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	text := of.Kind() == reflect.String || of.Implements(reflect.TypeFor[encoding.TextMarshaler]())
	bound := "imum"
	switch {
	case text:
		bound = "Length"
	case of.Kind() == reflect.Slice:
		bound = "Items"
	}
	for _, name := range []string{"min", "max"} {
		if n, err := strconv.ParseInt(f.Tag.Get(name), 10, 64); err == nil {
			add(name+bound, n)
		}
	}
	for _, name := range []string{"pattern", "format"} {
		if value := f.Tag.Get(name); value != "" {
			add(name, value)
		}
	}
	if value := f.Tag.Get("default"); value != "" {
		add("default", valueOf(f, value))
	}
	return out
}

// valueOf is a value of a member that a tag has: a number or a bool where the member
// is one.
func valueOf(f reflect.StructField, text string) any {
	of := f.Type
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch of.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64:
		v := reflect.New(of).Elem()
		set(v, text)
		return v.Interface()
	}
	return text
}

// told is what is said of a member: words, or what its tags say.
func told(f reflect.StructField, words string) (out yaml.MapSlice) {
	if text := cmp.Or(words, f.Tag.Get("doc")); text != "" {
		out = append(out, yaml.MapItem{Key: "description", Value: text})
	}
	if text := f.Tag.Get("example"); text != "" {
		out = append(out, yaml.MapItem{Key: "example", Value: valueOf(f, text)})
	}
	return out
}

// readOnly has the members of an answer that an input ignores in its schema too.
func (s schemas) readOnly(in yaml.MapSlice, answer reflect.Type, known map[string][]int) {
	for i := range in {
		if in[i].Key != "properties" {
			continue
		}
		members, words := in[i].Value.(yaml.MapSlice), memberWords(answer)
		for _, f := range reflect.VisibleFields(answer) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if _, read := known[name]; name != "" && name != "-" && !read {
				members = append(members, yaml.MapItem{Key: name, Value: append(s.member(f, words[name]), yaml.MapItem{Key: "readOnly", Value: true})})
			}
		}
		in[i].Value = members
	}
}

func reference(kind, name string) yaml.MapSlice {
	return yaml.MapSlice{{Key: "$ref", Value: "#/components/" + kind + "/" + name}}
}

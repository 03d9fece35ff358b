package console

import (
	"reflect"
	"strconv"
	"strings"
)

// Fill fills the fields that are named like the members of a struct in JSON: with texts,
// numbers, ticks, and lists of texts, one a line. It passes over members of other types.
func (f *Form) Fill(from any) *Form {
	eachMember(reflect.ValueOf(from), func(name string, _ reflect.StructTag, member reflect.Value) {
		switch {
		case member.Kind() == reflect.String:
			f.Set(name, member.String())
		case member.Kind() == reflect.Bool:
			f.SetBool(name, member.Bool())
		case member.CanInt():
			f.Set(name, strconv.FormatInt(member.Int(), 10))
		case member.Type() == reflect.TypeFor[[]string]():
			f.SetLines(name, member.Interface().([]string))
		}
	})
	return f
}

// Read sets the members of the struct that to points to, as Fill filled them in. Texts are
// those of Get, and of Raw where the member has the tag form:"raw".
func (f *Form) Read(to any) {
	eachMember(reflect.ValueOf(to).Elem(), func(name string, tag reflect.StructTag, member reflect.Value) {
		switch {
		case member.Kind() == reflect.String && tag.Get("form") == "raw":
			member.SetString(f.Raw(name))
		case member.Kind() == reflect.String:
			member.SetString(f.Get(name))
		case member.Kind() == reflect.Bool:
			member.SetBool(f.Bool(name))
		case member.CanInt():
			member.SetInt(f.Int(name))
		case member.Type() == reflect.TypeFor[[]string]():
			member.Set(reflect.ValueOf(f.Lines(name)))
		}
	})
}

// eachMember calls do for the members of a struct that have a name in JSON.
func eachMember(of reflect.Value, do func(name string, tag reflect.StructTag, member reflect.Value)) {
	for _, field := range reflect.VisibleFields(of.Type()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			do(name, field.Tag, of.FieldByIndex(field.Index))
		}
	}
}

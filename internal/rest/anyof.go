package rest

import "reflect"

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

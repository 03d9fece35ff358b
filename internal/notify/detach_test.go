package notify

import (
	"fmt"
	"reflect"
	"testing"
	"time"
	"unsafe"
)

// fill gives every text below v one cut out of from, and every pointer and list
// something to point to.
func fill(v reflect.Value, from string, n *int) {
	switch v.Kind() {
	case reflect.String:
		*n++
		v.SetString(from[*n : *n+3])
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), from, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), from, n)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), from, n)
		}
	}
}

// shared names the texts below v that lie in from.
func shared(v reflect.Value, from, path string) (found []string) {
	switch v.Kind() {
	case reflect.String:
		begin, at := uintptr(unsafe.Pointer(unsafe.StringData(from))), uintptr(unsafe.Pointer(unsafe.StringData(v.String())))
		if at >= begin && at < begin+uintptr(len(from)) {
			found = append(found, path)
		}
	case reflect.Pointer:
		found = shared(v.Elem(), from, path)
	case reflect.Slice:
		for i := range v.Len() {
			found = append(found, shared(v.Index(i), from, fmt.Sprintf("%s[%d]", path, i))...)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return nil
		}
		for i := range v.NumField() {
			found = append(found, shared(v.Field(i), from, path+"."+v.Type().Field(i).Name)...)
		}
	}
	return found
}

func TestDetachCopiesEveryText(t *testing.T) {
	body := make([]byte, 1024)
	for i := range body {
		body[i] = byte('a' + i%26)
	}
	from, n := string(body), 0
	var e, want Event
	fill(reflect.ValueOf(&e).Elem(), from, &n)
	n = 0
	fill(reflect.ValueOf(&want).Elem(), from, &n)
	if found := shared(reflect.ValueOf(e), from, "Event"); len(found) < 60 {
		t.Fatalf("only %d texts lie in the body before: %v", len(found), found)
	}
	e.Detach()
	if found := shared(reflect.ValueOf(e), from, "Event"); found != nil {
		t.Errorf("these lie in the body still: %v", found)
	}
	if !reflect.DeepEqual(e, want) {
		t.Errorf("got  %+v\nwant %+v", e, want)
	}
}

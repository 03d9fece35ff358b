package notify

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// texts gives the texts below v, and every pointer and list something to point
// to.
func texts(v reflect.Value, path string, found map[string]reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		found[path] = v
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		texts(v.Elem(), path, found)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			texts(v.Index(i), path+"[]", found)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			texts(v.Field(i), path+"."+v.Type().Field(i).Name, found)
		}
	}
}

// large is far more than anything else that the test allocates.
const large = 16 << 20

// holds tells whether an event with a cut of a large body in one text keeps the
// body in memory, as it is or detached.
func holds(t *testing.T, path string, detach bool) bool {
	t.Helper()
	var e Event
	found := map[string]reflect.Value{}
	texts(reflect.ValueOf(&e).Elem(), "Event", found)
	before := heap()
	found[path].SetString(strings.Repeat("x", large)[100:103])
	if detach {
		e.Detach()
	}
	after := heap()
	if got := found[path].String(); got != "xxx" {
		t.Errorf("%s became %q", path, got)
	}
	runtime.KeepAlive(&e)
	return after > before+large/2
}

// heap is how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestDetachLetsTheBodyGo(t *testing.T) {
	found := map[string]reflect.Value{}
	var e Event
	texts(reflect.ValueOf(&e).Elem(), "Event", found)
	if len(found) < 40 {
		t.Fatalf("only %d texts are known", len(found))
	}
	if !holds(t, "Event.Key", false) {
		t.Fatal("the test does not see a body that is kept")
	}
	for path := range found {
		if holds(t, path, true) {
			t.Errorf("%s keeps the body", path)
		}
	}
}

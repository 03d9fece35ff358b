package notify

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"pgregory.net/rapid"
)

// Every member of an event, those of later too, is written as its tag says.
func TestEventsAreWrittenAsTheirTagsSay(t *testing.T) {
	tags := jsonv2.JoinOptions(jsonv1.OmitEmptyWithLegacySemantics(true), jsontext.AllowInvalidUTF8(true))
	rapid.Check(t, func(t *rapid.T) {
		e := Event{Types: []EventType{PullRequestOpened}}
		draw(t, reflect.ValueOf(&e).Elem(), rapid.IntRange(0, 3).Draw(t, "how empty"))
		want, err := jsonv2.Marshal(&e, tags)
		if err != nil {
			t.Fatal(err)
		}
		got := e.appendJSON([]byte("x"))[1:]
		if string(got) != string(want) {
			t.Fatalf("\n got %s\nwant %s", got, want)
		}
		var read Event
		if err := json.Unmarshal(got, &read); err != nil {
			t.Fatal(err)
		}
	})
}

// draw gives v values, of which every empty-th is empty; 0: none.
func draw(t *rapid.T, v reflect.Value, empty int) {
	if empty > 0 && rapid.IntRange(0, empty).Draw(t, "empty") == 0 {
		return
	}
	switch value := v.Addr().Interface().(type) {
	case *time.Time:
		*value = time.UnixMicro(rapid.Int64Range(-1<<52, 1<<52).Draw(t, "time")).UTC()
		return
	case *EventType:
		*value = rapid.SampledFrom(EventTypes()).Draw(t, "type")
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.String(), rapid.Just("a\x00\xff<&>\"\\\u2028")).Draw(t, "text"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "number"))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		draw(t, v.Elem(), empty)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(0, 3).Draw(t, "length"), 3))
		for i := range v.Len() {
			draw(t, v.Index(i), empty)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			draw(t, v.Field(i), empty)
		}
	default:
		t.Fatalf("an event has a member of type %s", v.Type())
	}
}

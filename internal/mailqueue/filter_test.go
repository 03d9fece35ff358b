package mailqueue

import (
	"reflect"
	"testing"
	"time"

	"outrigger/internal/fault"
)

func TestParseFilter(t *testing.T) {
	parse := func(members map[string]string) (MessageFilter, error) {
		return ParseFilter(func(name string) string { return members[name] })
	}
	for age, want := range map[string]time.Duration{"": 0, "90m": 90 * time.Minute, "3d": 72 * time.Hour, "0d": 0, "1h30m": 90 * time.Minute} {
		if f, err := parse(map[string]string{"age": age}); err != nil || f.Age != want || f.IsEverything() != (want == 0) {
			t.Errorf("%q: %v, %v", age, f.Age, err)
		}
	}
	if none := (MessageFilter{IDs: []int64{}}); none.IsEverything() || none.Members()["id"] != "" {
		t.Error("no message is every message")
	}
	for _, age := range []string{"3", "-1h", "-1d", "d", "x", "99999999d"} {
		if _, err := parse(map[string]string{"age": age, "state": "sent"}); !fault.Is(err, fault.Invalid) || len(fault.As(err).Fields) != 2 {
			t.Errorf("%q: %v", age, err)
		}
	}
	f, err := parse(map[string]string{"node": "n", "state": "error", "sender": "s", "recipient": "@Old.", "subject": "x", "age": "1d"})
	if err != nil || !reflect.DeepEqual(f, MessageFilter{NodeID: "n", State: Failed, Sender: "s", Recipient: "@Old.", Subject: "x", Age: 24 * time.Hour}) {
		t.Errorf("%+v, %v", f, err)
	}
	if !f.Selects("a@oLD.example", Failed) || f.Selects("a@old.example", Waiting) || f.Selects("a@new.example", Failed) {
		t.Error("it selects other recipients")
	}
	again, err := ParseFilter(func(name string) string { return f.Members()[name] })
	if err != nil || !reflect.DeepEqual(again, f) {
		t.Errorf("%+v, %v", again, err)
	}
}

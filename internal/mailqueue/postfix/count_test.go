package postfix

import (
	"strings"
	"testing"

	"outrigger/internal/mailqueue"
)

func TestCount(t *testing.T) {
	for _, test := range []struct {
		name, listing string
		want          mailqueue.Sizes
		err           string
	}{
		{"nothing", "", mailqueue.Sizes{}, ""},
		{"every queue", `{"queue_name": "maildrop"}
{"queue_name": "incoming"}
{"queue_name": "active"}
{"queue_name": "deferred"}
{"queue_name": "hold"}
`, mailqueue.Sizes{Size: 4, ErrorSize: 1}, ""},
		{"the name behind members to come", `{"more": {"queue_name": "hold", "deep": [[1, null]]}, "queue_name": "active"}`, mailqueue.Sizes{Size: 1}, ""},
		{"an address that is no UTF-8", "{\"queue_name\": \"hold\", \"sender\": \"\xff\xfe@x\"}", mailqueue.Sizes{ErrorSize: 1}, ""},
		{"an unknown queue", `{"queue_name": "active"}{"queue_name": "saved"}`, mailqueue.Sizes{}, `there is a queue called "saved"`},
		{"no queue", `{"queue_id": "A"}`, mailqueue.Sizes{}, `there is a queue called ""`},
		{"a queue that is a number", `{"queue_name": 1}`, mailqueue.Sizes{}, "a queue_name is no text"},
		{"an array", `[{"queue_name": "active"}]`, mailqueue.Sizes{}, "it is no stream of objects"},
		{"half an object", `{"queue_name": "active", "recipients": [{`, mailqueue.Sizes{}, "it is not JSON"},
		{"the listing for people", "-Queue ID-  --Size-- ----Arrival Time----", mailqueue.Sizes{}, "it is not JSON"},
		{"an empty mail queue as people see it", "Mail queue is empty\n", mailqueue.Sizes{}, "it is not JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := count(strings.NewReader(test.listing))
			text := ""
			if err != nil {
				text = err.Error()
			}
			if got != test.want || text != test.err {
				t.Errorf("%+v, %q", got, text)
			}
		})
	}
}

// Whatever stands there, counting ends, and what was refused counts nothing.
func FuzzCount(f *testing.F) {
	f.Add(`{"queue_name": "hold", "queue_id": "A58F9987143", "recipients": [{"address": "r@example.com"}]}`)
	f.Add(`{"queue_name": "active"`)
	f.Add(`{}[]`)
	f.Fuzz(func(t *testing.T, listing string) {
		sizes, err := count(strings.NewReader(listing))
		if err != nil && sizes != (mailqueue.Sizes{}) {
			t.Errorf("%+v beside %v", sizes, err)
		}
		if total := sizes.Size + sizes.ErrorSize; total > int64(strings.Count(listing, "{")) {
			t.Errorf("%d messages in %q", total, listing)
		}
	})
}

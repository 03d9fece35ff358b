package outbox

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"outrigger/internal/egress"
)

// course is what becomes of two messages while their channel answers the same
// to everything, for some minutes; then the channel answers 202, and `after`
// is what is sent until a day is over.
type course struct {
	name   string
	sent   string // "message@time …" in the first three minutes
	states string // of both messages then
	state  string // of the channel then
	after  string
	end    string // states of both messages at the end
}

// The gate steps: 5 s, 30 s, 2 min, 10 min.
var (
	taken = course{
		name: "taken", sent: "1@0s 2@0s", states: "delivered delivered", state: "open", end: "delivered delivered",
	}
	gated = course{
		name: "gated", sent: "1@0s 1@5s 1@35s 1@2m35s", states: "waiting waiting", state: "waiting",
		after: "1@12m35s 2@12m35s", end: "delivered delivered",
	}
	// Of two server errors the first message may be the cause, so the second
	// is tried: refused too, it is an outage, and the first goes first again.
	outage = course{
		name: "outage", sent: "1@0s 1@5s 2@5s 1@35s 1@2m35s 2@2m35s", states: "waiting waiting", state: "waiting",
		after: "1@12m35s 2@12m35s", end: "delivered delivered",
	}
	refused = course{
		name: "refused", sent: "1@0s 2@0s", states: "failed failed", state: "open", end: "failed failed",
	}
	// Asked again after 10 s and 60 s, then probed after 1 h.
	gone = course{
		name: "gone", sent: "1@0s 1@10s 1@1m10s", states: "waiting waiting", state: "broken",
		after: "1@1h1m10s 2@1h1m10s", end: "delivered delivered",
	}
)

// answerRow is an answer and its course.
type answerRow struct {
	name   string
	status int
	body   string
	err    error
	want   course
}

func answersTable() []answerRow {
	rows := []answerRow{
		{name: "the workflow is off", status: 400, body: `{"error":{"code":"WorkflowTriggerIsNotEnabled"}}`, want: gone},
		{name: "the query was lost", status: 400, body: `{"error":{"code":"MissingApiVersionParameter"}}`, want: gone},
		{name: "one message misses the schema", status: 400, body: `{"error":{"code":"TriggerInputSchemaMismatch"}}`, want: refused},
		{name: "no answer in time", err: errors.New("chat.example.com did not answer within 10s"), want: gated},
		{name: "the connection is refused", err: errors.New("the connection to chat.example.com failed"), want: gated},
		{name: "an address that may not be dialled", err: fmt.Errorf("127.0.0.1 is a loopback address: %w", egress.ErrRefused), want: gone},
	}
	for status := 100; status <= 599; status++ {
		row := answerRow{name: fmt.Sprint(status), status: status, want: refused}
		switch {
		case status >= 200 && status <= 299:
			row.want = taken
		case status >= 500:
			row.want = outage
		case status < 200, status == 407, status == 408, status == 425, status == 429:
			row.want = gated
		case status <= 399, status == 401, status == 403, status == 404, status == 405, status == 410:
			row.want = gone
		}
		rows = append(rows, row)
	}
	return rows
}

// TestEveryAnswer is the design's table of answers: each status and error,
// against what becomes of message, channel and gate.
func TestEveryAnswer(t *testing.T) {
	for _, row := range answersTable() {
		t.Run(row.name, func(t *testing.T) {
			run(t, func(w *world) {
				w.mu.Lock()
				w.answer = func(string, string) (int, http.Header, string, error) { return row.status, nil, row.body, row.err }
				w.mu.Unlock()
				w.add(0, "1", "2")
				pass(3 * time.Minute)
				got := course{name: row.want.name, sent: w.times(), states: w.states(1, 2), state: w.standing(1)}
				w.answers(202, "")
				pass(24 * time.Hour)
				got.after, got.end = w.times(), w.states(1, 2)
				if got != row.want {
					t.Errorf("\n got %+v\nwant %+v", got, row.want)
				}
			})
		})
	}
}

// times returns what was sent to the first channel since the last call.
func (w *world) times() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := strings.NewReplacer("c0/", "", " at ", "@").Replace(strings.Join(w.sent, " "))
	w.sent = nil
	return sent
}

func (w *world) states(ids ...int64) string {
	states := make([]string, len(ids))
	for i, id := range ids {
		states[i] = w.queue.state(id)
	}
	return strings.Join(states, " ")
}

func (w *world) standing(channel int64) string {
	w.queue.mu.Lock()
	defer w.queue.mu.Unlock()
	return w.queue.channels[channel].Status(time.Now()).State
}

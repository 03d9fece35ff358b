package mailqueue

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outrigger/internal/audit"
	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// schema is what the wing's tables need.
var schema = []db.Migrations{audit.Migrations, cluster.Migrations, Migrations}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fakeRelay holds queues and messages in memory, and notes what is done.
type fakeRelay struct {
	queues   []Queue
	messages []Message
	did      []string
	err      error
}

func (f *fakeRelay) note(format string, args ...any) error {
	f.did = append(f.did, fmt.Sprintf(format, args...))
	return f.err
}

func (f *fakeRelay) Sizes(context.Context) (Sizes, error) {
	if len(f.queues) == 0 {
		return Sizes{}, f.err
	}
	return f.queues[0].Sizes, f.err
}

func (f *fakeRelay) InFlight() int                           { return 0 }
func (f *fakeRelay) Queues(context.Context) ([]Queue, error) { return f.queues, f.err }

func (f *fakeRelay) Messages(_ context.Context, q MessageFilter) ([]Message, error) {
	var found []Message
	for _, m := range f.messages {
		if m.ID > q.After && (q.NodeID == "" || q.NodeID == m.NodeID) && (q.State == "" || slices.Contains(m.States(), q.State)) && len(found) < q.Limit {
			found = append(found, m)
		}
	}
	return found, f.err
}

func (f *fakeRelay) Message(_ context.Context, id int64) (Message, []Attempt, error) {
	for _, m := range f.messages {
		if m.ID == id {
			return m, attempts(), f.err
		}
	}
	return Message{}, nil, fault.New(fault.NotFound, "There is no message %d.", id)
}

func (f *fakeRelay) Look(ctx context.Context, id int64) ([]byte, error) {
	if _, _, err := f.Message(ctx, id); err != nil {
		return nil, err
	}
	return []byte("Subject: <b>x</b>\r\n\r\nbytes \xff\r\n"), f.note("look %d", id)
}

func (f *fakeRelay) Resend(ctx context.Context, id int64) error {
	if _, _, err := f.Message(ctx, id); err != nil {
		return err
	}
	return f.note("resend %d", id)
}

func (f *fakeRelay) Delete(ctx context.Context, id int64) error {
	if _, _, err := f.Message(ctx, id); err != nil {
		return err
	}
	return f.note("delete %d", id)
}

func (f *fakeRelay) ResendAll(_ context.Context, q MessageFilter) (int64, error) {
	return 3, f.note("resend %v", q.Members())
}

func (f *fakeRelay) Flush(_ context.Context, q MessageFilter) (int64, error) {
	return 1, f.note("flush %v", q.Members())
}

func (f *fakeRelay) DeleteAll(_ context.Context, q MessageFilter) (int64, error) {
	return 2, f.note("delete %v", q.Members())
}

func (f *fakeRelay) SetPaused(_ context.Context, node string, paused bool) error {
	return f.note("pause %q %v", node, paused)
}

func (f *fakeRelay) Handover(_ context.Context, from, to string) (int64, error) {
	return 7, f.note("hand over %s to %s", from, to)
}

var queuedAt = time.Date(2026, 2, 5, 16, 20, 11, 0, time.UTC)

func attempts() []Attempt {
	a := Attempt{NodeID: "node_1", Recipients: []string{"ada@example.com"}}
	a.At, a.Status, a.Answer, a.Took = queuedAt.Add(time.Minute), 451, "4.3.0 try again", 250*time.Millisecond
	return []Attempt{a}
}

// someMessages are one that waits, and one that waits for one recipient and
// failed for another.
func someMessages() []Message {
	return []Message{
		{ID: 1, NodeID: "node_1", MessageID: "<1@example.com>", Subject: "Your issue <script>", Sender: "jira@example.com", Bytes: 512, QueuedAt: queuedAt,
			DueAt: queuedAt.Add(2 * time.Minute), SendCount: 1, LastError: "451 4.3.0 try again",
			Recipients: []Recipient{{Address: "ada@example.com", State: Waiting, SendCount: 1, DueAt: queuedAt.Add(2 * time.Minute)}}},
		{ID: 2, NodeID: "node_1", Sender: "", Bytes: 600, QueuedAt: queuedAt, SendCount: 11, LastError: "550 5.1.1 no such user",
			Recipients: []Recipient{
				{Address: "bob@example.com", State: Failed, SendCount: 11, LastError: "550 5.1.1 no such user"},
				{Address: "eve@example.com", State: Waiting, DueAt: queuedAt}, {Address: "kim@example.com", State: Sent}, {Address: "lee@example.com", State: Waiting},
			}},
	}
}

// nodes are a cluster as the tests say it is.
type nodes struct {
	list []cluster.Node
	did  []string
	err  error
}

func (n *nodes) Nodes(context.Context) ([]cluster.Node, error) { return n.list, n.err }

func (n *nodes) Drain(_ context.Context, id string) error {
	n.did = append(n.did, "drain "+id)
	return n.err
}

func (n *nodes) Resume(_ context.Context, id string) error {
	n.did = append(n.did, "resume "+id)
	return n.err
}

// source gives what it holds.
type source struct {
	now Sizes
	err error
}

func (s *source) Sizes(context.Context) (Sizes, error) { return s.now, s.err }

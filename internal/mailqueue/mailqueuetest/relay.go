// Package mailqueuetest has what tests of the mail queue wing share: a relay, a
// cluster and a source that do what a test says, and messages to show.
package mailqueuetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

// Relay is a mailqueue.Relay that holds queues and messages in memory, and notes what is done.
type Relay struct {
	Stored []mailqueue.RelayQueue
	Mail   []mailqueue.Message
	Did    []string
	Err    error
}

func (f *Relay) note(format string, args ...any) error {
	f.Did = append(f.Did, fmt.Sprintf(format, args...))
	return f.Err
}

func (f *Relay) Sizes(context.Context) (mailqueue.Sizes, error) {
	if len(f.Stored) == 0 {
		return mailqueue.Sizes{}, f.Err
	}
	return f.Stored[0].Sizes, f.Err
}

func (f *Relay) InFlight() int                                          { return 0 }
func (f *Relay) Queues(context.Context) ([]mailqueue.RelayQueue, error) { return f.Stored, f.Err }

func (f *Relay) Messages(_ context.Context, q mailqueue.MessageFilter) ([]mailqueue.Message, error) {
	var found []mailqueue.Message
	for _, m := range f.Mail {
		matches := (q.NodeID == "" || q.NodeID == m.NodeID) &&
			(q.IDs == nil || slices.Contains(q.IDs, m.ID)) &&
			(q.State == "" || slices.Contains(m.States, q.State))
		if matches && m.ID > q.After && len(found) < q.Limit {
			found = append(found, m)
		}
	}
	return found, f.Err
}

func (f *Relay) Count(ctx context.Context, q mailqueue.MessageFilter) (int64, time.Time, error) {
	q.Limit = len(f.Mail)
	found, err := f.Messages(ctx, q)
	return int64(len(found)), QueuedAt, err
}

func (f *Relay) Total(ctx context.Context, q mailqueue.MessageFilter, most int) (int, bool, error) {
	q.After = 0
	n, _, err := f.Count(ctx, q)
	return min(int(n), most), true, err
}

func (f *Relay) Message(_ context.Context, id int64) (mailqueue.Message, error) {
	for _, m := range f.Mail {
		if m.ID == id {
			m.Attempts = attempts()
			return m, f.Err
		}
	}
	return mailqueue.Message{}, fault.New(fault.NotFound, "There is no message %d.", id)
}

func (f *Relay) Look(ctx context.Context, id int64) ([]byte, error) {
	return []byte("Subject: <b>x</b>\r\n\r\nbytes \xff\r\n"), f.noteOf(ctx, "look %d", id)
}

func (f *Relay) Resend(ctx context.Context, id int64) error { return f.noteOf(ctx, "resend %d", id) }
func (f *Relay) Delete(ctx context.Context, id int64) error { return f.noteOf(ctx, "delete %d", id) }

func (f *Relay) noteOf(ctx context.Context, format string, id int64) error {
	if _, err := f.Message(ctx, id); err != nil {
		return err
	}
	return f.note(format, id)
}

func (f *Relay) ResendAll(_ context.Context, q mailqueue.MessageFilter) (int64, error) {
	return 3, f.note("resend %v", q.Members())
}

func (f *Relay) Flush(_ context.Context, q mailqueue.MessageFilter) (int64, error) {
	return 1, f.note("flush %v", q.Members())
}

func (f *Relay) DeleteAll(_ context.Context, q mailqueue.MessageFilter) (int64, error) {
	return 2, f.note("delete %v", q.Members())
}

func (f *Relay) SetPaused(_ context.Context, node string, paused bool) error {
	return f.note("pause %q %v", node, paused)
}

func (f *Relay) Handover(_ context.Context, from, to string) (int64, error) {
	return 7, f.note("hand over %s to %s", from, to)
}

// QueuedAt is when the messages were queued.
var QueuedAt = time.Date(2026, 2, 5, 16, 20, 11, 0, time.UTC)

func attempts() []mailqueue.Attempt {
	return []mailqueue.Attempt{{
		At: QueuedAt.Add(time.Minute), NodeID: "node_1", Recipients: []string{"ada@example.com"}, Status: 451, Answer: "4.3.0 try again",
		Seconds: 0.25,
	}}
}

// Messages are one that waits, and one that waits for one recipient and
// failed for another.
func Messages() []mailqueue.Message {
	list := []mailqueue.Message{
		{ID: 1, NodeID: "node_1", MessageID: "<1@example.com>", Subject: "Your issue <script>", Sender: "jira@example.com",
			Bytes: 512, QueuedAt: QueuedAt, DueAt: QueuedAt.Add(2 * time.Minute), SendCount: 1, LastError: "451 4.3.0 try again",
			Recipients: []mailqueue.Recipient{{Address: "ada@example.com", State: mailqueue.Waiting, SendCount: 1,
				DueAt: QueuedAt.Add(2 * time.Minute)}}},
		{ID: 2, NodeID: "node_1", Sender: "", Bytes: 600, QueuedAt: QueuedAt, SendCount: 11, LastError: "550 5.1.1 no such user",
			Recipients: []mailqueue.Recipient{
				{Address: "bob@example.com", State: mailqueue.Failed, SendCount: 11, LastError: "550 5.1.1 no such user"},
				{Address: "eve@example.com", State: mailqueue.Waiting, DueAt: QueuedAt},
				{Address: "kim@example.com", State: mailqueue.Sent}, {Address: "lee@example.com", State: mailqueue.Waiting},
			}},
	}
	for i := range list {
		list[i].States = mailqueue.StatesOf(list[i].Recipients)
	}
	return list
}

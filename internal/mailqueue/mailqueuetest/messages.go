package mailqueuetest

import (
	"time"

	"outrigger/internal/mailqueue"
)

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
		{ID: 1, NodeID: "node_1", MessageID: "<1@example.com>", Subject: "Your issue <script>", Sender: "jira@example.com", Bytes: 512,
			QueuedAt: QueuedAt,
			DueAt:    QueuedAt.Add(2 * time.Minute), SendCount: 1, LastError: "451 4.3.0 try again",
			Recipients: []mailqueue.Recipient{{Address: "ada@example.com", State: mailqueue.Waiting, SendCount: 1,
				DueAt: QueuedAt.Add(2 * time.Minute)}}},
		{ID: 2, NodeID: "node_1", Sender: "", Bytes: 600, QueuedAt: QueuedAt, SendCount: 11, LastError: "550 5.1.1 no such user",
			Recipients: []mailqueue.Recipient{
				{Address: "bob@example.com", State: mailqueue.Failed, SendCount: 11, LastError: "550 5.1.1 no such user"},
				{Address: "eve@example.com", State: mailqueue.Waiting, DueAt: QueuedAt}, {Address: "kim@example.com", State: mailqueue.Sent},
				{Address: "lee@example.com", State: mailqueue.Waiting},
			}},
	}
	for i := range list {
		list[i].States = mailqueue.StatesOf(list[i].Recipients)
	}
	return list
}

package mailqueue

import (
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	now := time.Date(2026, 2, 5, 16, 20, 11, 0, time.UTC)
	for _, test := range []struct {
		name   string
		sizes  Sizes
		read   time.Duration // ago; 0 is never
		oldest time.Duration // ago; 0 is none
		want   Verdict
		reason string
	}{
		{"empty", Sizes{}, time.Second, 0, Fine, ""},
		{"just fine", Sizes{49, 0}, time.Second, 29 * time.Minute, Fine, ""},
		{"a look", Sizes{50, 0}, time.Second, 0, Attention, "50 messages are waiting."},
		{"still a look", Sizes{99, 0}, time.Second, 0, Attention, "99 messages are waiting."},
		{"too many", Sizes{100, 0}, time.Second, 0, Act, "100 messages are waiting; from 100 on the queue does not keep up."},
		{"an error", Sizes{0, 1}, time.Second, 0, Act, "1 message is in the error queue, and nothing sends it again by itself."},
		{"errors", Sizes{100, 2}, time.Second, 0, Act, "2 messages are in the error queue, and nothing sends them again by itself."},
		{"old", Sizes{1, 0}, time.Second, 30 * time.Minute, Act, "The oldest message has waited for 30 minutes."},
		{"very old", Sizes{1, 0}, time.Second, 100 * time.Hour, Act, "The oldest message has waited for 4 days."},
		{"never read", Sizes{}, 0, 0, Unknown, "Its queue was never read."},
		{"read long ago", Sizes{}, 3 * time.Hour, 0, Unknown, "Its queue was read 3 hours ago."},
		{"read a while ago", Sizes{49, 0}, 119 * time.Second, 0, Fine, ""},
		{"bad news stay", Sizes{0, 1}, 3 * time.Hour, 0, Act, "1 message is in the error queue, and nothing sends it again by itself."},
	} {
		s := NodeStatus{Reading: Reading{Sizes: test.sizes}, Now: now}
		if test.read > 0 {
			s.At = now.Add(-test.read)
		}
		if test.oldest > 0 {
			s.Queue = &RelayQueue{Oldest: now.Add(-test.oldest)}
		}
		if verdict, reason := s.Judge(); verdict != test.want || reason != test.reason {
			t.Errorf("%s: %s, %q", test.name, verdict, reason)
		}
	}
}

// What waits and cannot be sent for want of a smarthost needs attention at once, and
// the cause is said first also when it has become urgent.
func TestNowhereToSendTo(t *testing.T) {
	now := time.Date(2026, 2, 5, 16, 20, 11, 0, time.UTC)
	for _, test := range []struct {
		name   string
		sizes  Sizes
		oldest time.Duration
		want   Verdict
		reason string
	}{
		{"nothing waits", Sizes{}, 0, Fine, ""},
		{"one, just now", Sizes{1, 0}, time.Second, Attention, nowhere},
		{"many", Sizes{60, 0}, time.Minute, Attention, nowhere},
		{"old", Sizes{3, 0}, 30 * time.Minute, Act, nowhere + " The oldest message has waited for 30 minutes."},
		{"failed before", Sizes{0, 1}, 0, Act, "1 message is in the error queue, and nothing sends it again by itself."},
		{"both", Sizes{1, 2}, time.Second, Act, nowhere + " 2 messages are in the error queue, and nothing sends them again by itself."},
	} {
		s := NodeStatus{Reading: Reading{Sizes: test.sizes, At: now}, Now: now, Queue: &RelayQueue{NoSmarthost: true, Sizes: test.sizes}}
		if test.oldest > 0 {
			s.Queue.Oldest = now.Add(-test.oldest)
		}
		if verdict, reason := s.Judge(); verdict != test.want || reason != test.reason {
			t.Errorf("%s: %s, %q", test.name, verdict, reason)
		}
	}
}

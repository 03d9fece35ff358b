package mailqueue

import (
	"fmt"
	"time"
)

// Verdict says whether a queue needs an administrator.
type Verdict string

const (
	Fine      Verdict = "fine"
	Attention Verdict = "attention" // worth a look
	Act       Verdict = "act"       // needs action
	Unknown   Verdict = "unknown"   // its sizes are not known, or too old to tell
)

// The host application's published thresholds: "Managing mail queue size"
// (confluence.atlassian.com/enterprise) and the health checks of its mail queue
// and its mail error queue.
const (
	AttentionFrom = 50  // waiting messages
	ActFrom       = 100 // waiting messages
	actAge        = 30 * time.Minute
)

// staleAfter is when sizes say nothing any more: two samples were missed.
const staleAfter = 2 * time.Minute

// nowhere is what helps where mail waits and no smarthost is set.
const nowhere = "Nothing can be sent: no smarthost is set. Set mail.smarthost on this node and restart it."

// Nowhere says that a queue cannot be sent for want of a smarthost, and what to
// set; "" where it can, or nothing waits.
func (q *RelayQueue) Nowhere() string {
	if q == nil || !q.NoSmarthost || q.Size == 0 {
		return ""
	}
	return nowhere
}

// Judge returns the verdict on a node's queue, and why.
func (s *NodeStatus) Judge() (Verdict, string) {
	verdict, reason := s.judgeSizes()
	why := s.Queue.Nowhere()
	switch {
	case why == "":
		return verdict, reason
	case verdict == Act:
		return Act, why + " " + reason
	}
	return Attention, why
}

func (s *NodeStatus) judgeSizes() (Verdict, string) {
	waited := s.Now.Sub(s.Oldest())
	age, _ := s.Age()
	switch {
	case s.At.IsZero():
		return Unknown, "Its queue was never read."
	case s.ErrorSize > 0:
		return Act, fmt.Sprintf("%s in the error queue, and nothing sends %s again by itself.", MessagesAre(s.ErrorSize), them(s.ErrorSize))
	case !s.Oldest().IsZero() && waited >= actAge:
		return Act, fmt.Sprintf("The oldest message has waited for %s.", span(waited))
	case s.Size >= ActFrom:
		return Act, fmt.Sprintf("%s waiting; from %d on the queue does not keep up.", MessagesAre(s.Size), ActFrom)
	case s.Size >= AttentionFrom:
		return Attention, fmt.Sprintf("%s waiting.", MessagesAre(s.Size))
	case age >= staleAfter:
		return Unknown, fmt.Sprintf("Its queue was read %s ago.", span(age))
	}
	return Fine, ""
}

// MessagesAre counts messages at the start of a sentence: "1 message is".
func MessagesAre(n int64) string {
	if n == 1 {
		return "1 message is"
	}
	return fmt.Sprintf("%d messages are", n)
}

func them(n int64) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// span is a length of time in its largest unit.
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return fmt.Sprintf("%d seconds", d/time.Second)
}

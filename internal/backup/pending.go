package backup

import (
	"fmt"
	"strings"
)

// caution is what to do before sending begins.
const caution = "Messages that were sent after the state of this database was saved will be sent again. " +
	"First cancel those that must not be repeated."

// Pending is what goes out when sending begins.
type Pending struct {
	Messages  int  // chat messages that wait, on
	Channels  int  // so many channels
	Mails     int  // that wait on all nodes
	Reports   int  // activity reports whose time has come
	Migration bool // a migration of comments is under way
}

// String says it in sentences, and what to do first.
func (p Pending) String() string {
	var waiting []string
	if p.Messages > 0 {
		waiting = append(waiting, amount(p.Messages, "chat message")+" on "+amount(p.Channels, "channel"))
	}
	if p.Mails > 0 {
		waiting = append(waiting, amount(p.Mails, "email"))
	}
	if p.Reports > 0 {
		waiting = append(waiting, amount(p.Reports, "activity report")+" due now")
	}
	text := "Nothing is waiting to be sent."
	if n := len(waiting); n > 0 {
		text = "Waiting to be sent: " + waiting[0]
		if n > 1 {
			text = "Waiting to be sent: " + strings.Join(waiting[:n-1], ", ") + " and " + waiting[n-1]
		}
		text += "."
	}
	if p.Migration {
		text += " A comment migration is under way and will continue."
	}
	if p == (Pending{}) {
		return text
	}
	return text + " " + caution
}

func amount(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

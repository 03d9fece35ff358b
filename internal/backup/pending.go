package backup

import "outrigger/internal/phrase"

// caution is what to do before sending begins.
const caution = "Messages that were sent after the state of this database was saved will be sent again. " +
	"First cancel those that must not be repeated."

// Pending is what goes out when sending begins.
type Pending struct {
	Messages  int  `json:"messages" doc:"Chat messages."`
	Channels  int  `json:"channels" doc:"The channels that they are for."`
	Mails     int  `json:"mails" doc:"Messages in the mail queues of all nodes."`
	Reports   int  `json:"reports" doc:"Activity reports whose time has come."`
	Migration bool `json:"migration" doc:"A migration of comments is under way."`
}

// String says it in sentences, and what to do first.
func (p Pending) String() string {
	var waiting []string
	if p.Messages > 0 {
		waiting = append(waiting, phrase.Count(p.Messages, "chat message")+" on "+phrase.Count(p.Channels, "channel"))
	}
	if p.Mails > 0 {
		waiting = append(waiting, phrase.Count(p.Mails, "email"))
	}
	if p.Reports > 0 {
		waiting = append(waiting, phrase.Count(p.Reports, "activity report")+" due now")
	}
	text := "Nothing is waiting to be sent."
	if len(waiting) > 0 {
		text = "Waiting to be sent: " + phrase.List(waiting) + "."
	}
	if p.Migration {
		text += " A comment migration is under way and will continue."
	}
	if p == (Pending{}) {
		return text
	}
	return text + " " + caution
}

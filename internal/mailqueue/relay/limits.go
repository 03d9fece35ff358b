package relay

import (
	"strings"

	"outrigger/internal/mailqueue/relay/smtpclient"
)

// Limits are what the provider of the smarthost allows one sign-in, in the whole
// cluster.
type Limits struct {
	SignIn      string // whose they are; "": there are none
	Provider    string // whose answers are known: microsoft365, gmail or ses; "": of none
	Connections int    // of all nodes together; 0: each node has SenderOptions.Connections
	Rate        int    // messages a minute; 0: any number
	Quota       int    // recipients in 24 hours; 0: any number
}

// limitReply is an answer by which a provider says that a limit is reached.
type limitReply struct {
	code        int
	enhanced    string // "": any
	words       string // in small letters; "": any
	connections bool   // it is about how many there are
}

// limitReplies are what providers document. Microsoft 365: "Troubleshoot SMTP AUTH
// client submission" has 432 4.3.2 for more than three connections, and 554
// 5.2.0 SubmissionQuotaExceededException. Gmail: "SMTP errors and codes". Amazon
// SES: "Errors related to the sending quotas".
var limitReplies = map[string][]limitReply{
	"microsoft365": {{code: 432, enhanced: "4.3.2", connections: true}, {code: 554, enhanced: "5.2.0", words: "quota"}},
	"gmail":        {{code: 421, enhanced: "4.7.0"}, {code: 550, enhanced: "5.4.5"}},
	"ses":          {{code: 454, words: "throttling failure"}},
}

// reached is an answer that a limit is reached.
type reached struct {
	limitReply
	said string // the whole answer
	what string // it answers
}

// reached finds such an answer to MAIL, to DATA or to the message; nil: there is
// none. An answer to RCPT is about that recipient, whatever its words.
func (l *Limits) reached(r *smtpclient.Result) *reached {
	for _, one := range []struct {
		what  string
		reply smtpclient.Reply
	}{{"MAIL", r.Mail}, {"DATA", r.Data}, {"a message", r.End}} {
		for _, known := range limitReplies[l.Provider] {
			if known.matches(one.reply) {
				return &reached{known, one.reply.String(), one.what}
			}
		}
	}
	return nil
}

func (l limitReply) matches(r smtpclient.Reply) bool {
	return r.Code == l.code && (l.enhanced == "" || r.Enhanced() == l.enhanced) &&
		strings.Contains(strings.ToLower(r.Text()), l.words)
}

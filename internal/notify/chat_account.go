package notify

import (
	"encoding/csv"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"outrigger/internal/fault"
)

// ChatAccount says who a user of a platform is in the chats: what messages need
// to mention that person.
type ChatAccount struct {
	Connection string    `json:"connection" doc:"The only one, where it is left out."`
	User       string    `json:"user" max:"255" doc:"The user's name on the platform, without regard to case."`
	Teams      string    `json:"teams,omitempty" doc:"A user principal name, such as ada@example.com, or an Entra object id."`
	Slack      string    `json:"slack,omitempty" doc:"A member id, such as U012AB3CD."`
	UpdatedBy  string    `json:"updatedBy,omitempty" readonly:"true" doc:"Who saved it last."`
	UpdatedAt  time.Time `json:"updatedAt,omitzero" readonly:"true" doc:"When that was."`
}

// What chat platforms take as the id of a person. A user principal name has the
// shape of an e-mail address; see
// https://learn.microsoft.com/microsoftteams/platform/task-modules-and-cards/cards/cards-format#mention-support-within-adaptive-cards
// and https://api.slack.com/reference/surfaces/formatting#mentioning-users.
var (
	principalName = regexp.MustCompile(`^[A-Za-z0-9.!#^~'_+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$`)
	entraID       = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
	slackMember   = regexp.MustCompile(`^[UW][A-Z0-9]{7,20}$`)
)

// maxPrincipalName is how many characters Entra allows a user principal name.
const maxPrincipalName = 113

// Trimmed is the account without white space around its members.
func (a ChatAccount) Trimmed() ChatAccount {
	a.User, a.Teams, a.Slack = strings.TrimSpace(a.User), strings.TrimSpace(a.Teams), strings.TrimSpace(a.Slack)
	return a
}

// Validate names every wrong member at once: fault.Invalid, or nil.
func (a *ChatAccount) Validate() error {
	var f fault.Fields
	if n := utf8.RuneCountInString(a.User); n < 1 || n > MaxName {
		f.Add("user", "Give the user's name on the platform, of 1 to %d characters.", MaxName)
	}
	if a.Teams != "" && !entraID.MatchString(a.Teams) && (len(a.Teams) > maxPrincipalName || !principalName.MatchString(a.Teams)) {
		f.Add("teams", "%q is neither a user principal name, such as ada@example.com, nor an Entra object id.", a.Teams)
	}
	if a.Slack != "" && !slackMember.MatchString(a.Slack) {
		f.Add("slack", "%q is not a member id, such as U012AB3CD: it is in the person's Slack profile under More.", a.Slack)
	}
	if a.Teams == "" && a.Slack == "" {
		f.Add("teams", "Give the account in Teams, in Slack or in both.")
	}
	return f.Err()
}

// In is the account's id in a format's chat; empty: none.
func (a *ChatAccount) In(f Format) string {
	if f == Slack {
		return a.Slack
	}
	return a.Teams
}

// ChatAccountPage asks for accounts, by connection and user.
type ChatAccountPage struct {
	Connection string // empty: all
	Search     string // part of the user's name or of an id, without case; empty: all
	// AfterConnection and AfterUser are of the last one of the page before.
	AfterConnection, AfterUser string
	Limit                      int
}

// Mentions reports whether an enabled one of the rules or reports mentions
// reviewers.
func (s *RuleSet) MentionsReviewers(ids []int64) bool {
	for _, id := range ids {
		if c := s.byID[id]; c != nil && c.MentionReviewers || s.Reports.mentions(id) {
			return true
		}
	}
	return false
}

// Mentioned are the reviewers whom a message about the event mentions: those of
// a pull request but for who caused the event; of a report, those who have not
// approved what it names.
func (e *Event) Mentioned() []User {
	if e.Report != nil {
		return e.Report.waitsFor()
	}
	if e.PullRequest == nil {
		return nil
	}
	var users []User
	for _, u := range e.Reviewers {
		if Fold(u.Name) != Fold(e.Actor.Name) {
			users = append(users, u)
		}
	}
	return users
}

// MaxImport is how many accounts are saved at once.
const MaxImport = 10_000

// ReadChatAccounts reads accounts from CSV (RFC 4180) with the columns user,
// teams and slack, of which the last may be left out; a first line of these names
// is skipped. lines has the line of each account.
func ReadChatAccounts(r io.Reader) (accounts []ChatAccount, lines []int, err error) {
	rows := csv.NewReader(r)
	rows.FieldsPerRecord = -1
	rows.TrimLeadingSpace = true
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return accounts, lines, nil
		}
		if syntax := (*csv.ParseError)(nil); errors.As(err, &syntax) {
			return nil, nil, fault.InvalidField("accounts", "Line %d is not CSV: %s.", syntax.Line, syntax.Err)
		}
		if err != nil {
			return nil, nil, fault.Wrap(err, fault.Invalid, "The accounts could not be read.")
		}
		line, _ := rows.FieldPos(0)
		if len(row) < 2 || len(row) > 3 {
			return nil, nil, fault.InvalidField("accounts", "Line %d has %d columns; write user,teams,slack.", line, len(row))
		}
		row[0] = strings.TrimPrefix(row[0], "\uFEFF") // as spreadsheets begin a file
		if len(accounts) == 0 && strings.EqualFold(row[0], "user") && strings.EqualFold(strings.TrimSpace(row[1]), "teams") {
			continue
		}
		if len(accounts) == MaxImport {
			return nil, nil, fault.InvalidField("accounts", "More than %d accounts; send them in parts.", MaxImport)
		}
		a := ChatAccount{User: row[0], Teams: row[1]}
		if len(row) == 3 {
			a.Slack = row[2]
		}
		accounts, lines = append(accounts, a), append(lines, line)
	}
}

package notify

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"

	"outrigger/internal/fault"
)

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

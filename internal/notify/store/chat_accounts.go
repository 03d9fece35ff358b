package store

import (
	"context"
	"fmt"
	"strings"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

const chatAccountSelect = `SELECT connection, user_name, teams, slack, updated_by, updated_at FROM notify_chat_accounts`

// ListChatAccounts returns one page of the accounts.
func (s *Store) ListChatAccounts(ctx context.Context, p notify.ChatAccountPage) ([]notify.ChatAccount, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) ([]notify.ChatAccount, error) {
		return readChatAccounts(ctx, tx, ` WHERE (connection, user_fold) > ($1, $2) AND ($3 = '' OR connection = $3)
			AND ($4 = '' OR user_fold LIKE $5 ESCAPE '\' OR lower(teams) LIKE $5 ESCAPE '\' OR lower(slack) LIKE $5 ESCAPE '\')
			ORDER BY connection, user_fold LIMIT $6`,
			clean(p.AfterConnection), clean(notify.Fold(p.AfterUser)), clean(p.Connection), clean(p.Search),
			contains(clean(notify.Fold(p.Search))), p.Limit)
	})
}

// contains is the pattern of LIKE for texts that contain s.
func contains(s string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(s) + "%"
}

// ChatAccounts returns the accounts of users of a connection, by folded name; those
// who have none are not in it.
func (s *Store) ChatAccounts(ctx context.Context, connection string, users []notify.User) (map[string]notify.ChatAccount, error) {
	if len(users) == 0 {
		return nil, nil
	}
	places := make([]string, len(users))
	args := []any{connection}
	for i, u := range users {
		places[i] = fmt.Sprint("$", i+2)
		args = append(args, clean(notify.Fold(u.Name)))
	}
	by := make(map[string]notify.ChatAccount)
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := readChatAccounts(ctx, tx, ` WHERE connection = $1 AND user_fold IN (`+strings.Join(places, ", ")+`)`, args...)
		for _, a := range found {
			by[notify.Fold(a.User)] = a
		}
		return err
	})
	return by, err
}

func readChatAccounts(ctx context.Context, tx *db.Tx, where string, args ...any) ([]notify.ChatAccount, error) {
	return db.List(ctx, tx, "reading chat accounts", func(row db.Row) (a notify.ChatAccount, err error) {
		err = row.Scan(&a.Connection, &a.User, &a.Teams, &a.Slack, &a.UpdatedBy, db.At(&a.UpdatedAt))
		return a, err
	}, chatAccountSelect+where, args...)
}

// lockChatAccounts keeps other nodes from changing accounts, so that of two who
// change one the second sees what the first did, and two imports in different
// orders do not wait for each other.
func lockChatAccounts(ctx context.Context, tx *db.Tx) error {
	if tx.Dialect() != db.Postgres { // whose writer is alone
		return nil
	}
	return tx.Do(ctx, "locking chat accounts", `LOCK TABLE notify_chat_accounts IN SHARE ROW EXCLUSIVE MODE`)
}

// SaveChatAccounts creates or replaces accounts, all or none, and tells how many
// are new.
func (s *Store) SaveChatAccounts(ctx context.Context, who notify.Actor, accounts []notify.ChatAccount) (created int, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		created = 0
		if err := lockChatAccounts(ctx, tx); err != nil {
			return err
		}
		for i := range accounts {
			a := &accounts[i]
			before, err := readChatAccounts(ctx, tx, ` WHERE connection = $1 AND user_fold = $2`, a.Connection, clean(notify.Fold(a.User)))
			if err != nil {
				return err
			}
			a.UpdatedBy, a.UpdatedAt = who.Name, tx.Now()
			if err := tx.Do(ctx, "saving chat account",
				`INSERT INTO notify_chat_accounts (connection, user_fold, user_name, teams, slack, updated_by, updated_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (connection, user_fold) DO UPDATE SET
				user_name = excluded.user_name, teams = excluded.teams, slack = excluded.slack,
				updated_by = excluded.updated_by, updated_at = excluded.updated_at`,
				a.Connection, clean(notify.Fold(a.User)), clean(a.User), a.Teams, a.Slack, clean(a.UpdatedBy), db.Micros(a.UpdatedAt)); err != nil {
				return err
			}
			action, old := "update", map[string]string(nil)
			if len(before) == 0 {
				action = "create"
				created++
			} else {
				old = auditedChatAccount(&before[0])
			}
			if err := audit.Record(ctx, tx, chatAccountEntry(who, action, a, old, auditedChatAccount(a))); err != nil {
				return err
			}
		}
		return nil
	})
	return created, err
}

// DeleteChatAccount deletes one: fault.NotFound when there is none.
func (s *Store) DeleteChatAccount(ctx context.Context, who notify.Actor, connection, user string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := lockChatAccounts(ctx, tx); err != nil {
			return err
		}
		const at = ` WHERE connection = $1 AND user_fold = $2`
		before, err := readChatAccounts(ctx, tx, at, connection, clean(notify.Fold(user)))
		if err != nil {
			return err
		}
		if len(before) == 0 {
			return fault.New(fault.NotFound, "User %q of %s has no chat account.", user, connection)
		}
		if err := tx.Do(ctx, "deleting chat account", `DELETE FROM notify_chat_accounts`+at, connection, clean(notify.Fold(user))); err != nil {
			return err
		}
		return audit.Record(ctx, tx, chatAccountEntry(who, "delete", &before[0], auditedChatAccount(&before[0]), nil))
	})
}

func auditedChatAccount(a *notify.ChatAccount) map[string]string {
	return map[string]string{"user": a.User, "teams": a.Teams, "slack": a.Slack}
}

func chatAccountEntry(who notify.Actor, action string, a *notify.ChatAccount, before, after map[string]string) audit.Entry {
	e := who.AuditEntry(action, "chat account", a.User, before, after)
	e.Connection = a.Connection
	return e
}

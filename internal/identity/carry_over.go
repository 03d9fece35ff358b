package identity

import (
	"context"
	"errors"
	"strings"

	"outrigger/internal/db"
)

// Carried is what of access that ended after a backup stays so.
type Carried struct {
	Deleted, Disabled, Passwords []string // users, by the Ref
	Tokens, Grants               int64    // that were revoked
	NoAdmin                      bool     // no enabled local user with SYS_ADMIN is left
}

// errNotLater is that a database does not come after another.
var errNotLater = errors.New("it is not a later state of the database that was restored")

// CarryOver applies to a SQLite database that is restored what ended, since it was
// saved, in the later state that it replaces: users who were deleted or disabled,
// tokens and grants that were revoked, second factors and codes that were used or
// changed, passwords. All sessions end. replaced is a copy of that later state, of the
// same schema and key. On an error nothing may be committed.
func CarryOver(ctx context.Context, tx *db.Tx, replaced string) (c Carried, err error) {
	if err := tx.Do(ctx, "opening the replaced database", `ATTACH DATABASE $1 AS replaced`, replaced); err != nil {
		return c, err
	}
	if err := comesLater(ctx, tx); err != nil {
		return c, err
	}
	for _, q := range []struct {
		users *[]string
		query string
	}{
		{&c.Deleted, `DELETE FROM identity_users WHERE id NOT IN (SELECT id FROM replaced.identity_users) RETURNING source, name`},
		{&c.Disabled, `UPDATE identity_users SET disabled_at = o.disabled_at FROM replaced.identity_users o
			WHERE o.id = identity_users.id AND o.disabled_at <> 0 AND identity_users.disabled_at = 0
			RETURNING identity_users.source, identity_users.name`},
		{&c.Passwords, `UPDATE identity_users SET password = o.password, initial_password = o.initial_password, password_at = o.password_at
			FROM replaced.identity_users o WHERE o.id = identity_users.id AND o.password <> identity_users.password
			RETURNING identity_users.source, identity_users.name`},
	} {
		if *q.users, err = refsOf(ctx, tx, q.query); err != nil {
			return c, err
		}
	}
	for _, q := range []struct {
		changed *int64
		query   string
	}{
		{&c.Tokens, `DELETE FROM identity_tokens WHERE id NOT IN (SELECT id FROM replaced.identity_tokens)`},
		{new(int64), `INSERT INTO identity_resting SELECT token_id, since FROM replaced.identity_resting WHERE true
			ON CONFLICT (token_id) DO NOTHING`},
		{&c.Grants, `DELETE FROM identity_grants WHERE id NOT IN (SELECT id FROM replaced.identity_grants)`},
		{new(int64), `DELETE FROM identity_members WHERE (user_id, name) NOT IN (SELECT user_id, name FROM replaced.identity_members)`},
		{new(int64), `UPDATE identity_users SET signed_in_at = o.signed_in_at, claimed_until = o.claimed_until
			FROM replaced.identity_users o WHERE o.id = identity_users.id`},
	} {
		if *q.changed, err = tx.Changed(ctx, "carrying revocations over", q.query); err != nil {
			return c, err
		}
	}
	for table, columns := range map[string]string{
		"identity_totp":           "user_id, secret, created_at, confirmed_at, last_step",
		"identity_recovery_codes": "user_id, hash",
		"identity_passkeys":       "id, user_id, credential_id, credential, name, created_at, used_at",
	} {
		if err := tx.Do(ctx, "carrying second factors over", `DELETE FROM `+table); err != nil {
			return c, err
		}
		if err := tx.Do(ctx, "carrying second factors over", `INSERT INTO `+table+` (`+columns+`) SELECT `+columns+` FROM replaced.`+table+
			` WHERE user_id IN (SELECT id FROM identity_users)`); err != nil {
			return c, err
		}
	}
	if _, err := endAllSignIns(ctx, tx); err != nil {
		return c, err
	}
	if err := tx.Get(ctx, "counting administrators", []any{&c.NoAdmin}, `SELECT COUNT(*) = 0 FROM identity_grants
		WHERE permission = 'SYS_ADMIN' AND user_id IN (SELECT id FROM identity_users WHERE source = 'local'
		AND disabled_at = 0)`); err != nil {
		return c, err
	}
	return c, recordAfterRestore(ctx, tx, "carry over", map[string]string{
		"deleted": names(c.Deleted), "disabled": names(c.Disabled), "passwords": names(c.Passwords),
		"tokensRevoked": idText(c.Tokens), "grantsRevoked": idText(c.Grants),
	})
}

// comesLater holds the last entry of the audit trail against the replaced database:
// where that has it too, all that it did after that came after the backup.
func comesLater(ctx context.Context, tx *db.Tx) error {
	var same int
	err := tx.Get(ctx, "comparing the audit trails", []any{&same}, `SELECT COUNT(*) FROM audit_entries b JOIN replaced.audit_entries o
		ON o.id = b.id AND o.at = b.at AND o.action = b.action AND o.object = b.object AND o.object_id = b.object_id
		WHERE b.id = (SELECT MAX(id) FROM audit_entries)`)
	if err == nil && same == 0 {
		return errNotLater
	}
	return err
}

func refsOf(ctx context.Context, tx *db.Tx, query string) ([]string, error) {
	return db.List(ctx, tx, "carrying users over", func(row db.Row) (string, error) {
		var source, name string
		err := row.Scan(&source, &name)
		return refOf(source, name), err
	}, query)
}

// String says it in sentences.
func (c Carried) String() string {
	text := "What had ended since the backup was made stays so."
	for _, one := range []struct{ what, which string }{
		{"Deleted users", names(c.Deleted)}, {"Disabled users", names(c.Disabled)}, {"Passwords changed of", names(c.Passwords)},
		{"Tokens revoked", some(c.Tokens)}, {"Permissions revoked", some(c.Grants)},
	} {
		if one.which != "" {
			text += " " + one.what + ": " + one.which + "."
		}
	}
	if c.NoAdmin {
		text += " No administrator is left: those of the backup were deleted, disabled or lost their permission since. " +
			"Make one on this machine while the server is stopped: outrigger users add NAME --local, then outrigger users grant NAME " +
			"SYS_ADMIN --local"
	}
	return text
}

// some is a number as text, "" for none.
func some(n int64) string {
	if n == 0 {
		return ""
	}
	return idText(n)
}

func names(refs []string) string { return strings.Join(refs, ", ") }

package identity

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/webauthn"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// maxPasskeys is how many a user may have: more than devices to keep them on, and
// a bound for what browsers are sent.
const maxPasskeys = 20

// Passkey is a key on a device of the user, bound to this server's host name.
type Passkey struct {
	ID        int64
	UserID    int64
	Name      string // what the user calls it
	CreatedAt time.Time
	UsedAt    time.Time // zero: never

	stored     []byte // credential, as it is in the database
	credential webauthn.Credential
}

// Passkeys lists the passkeys of who asks, the oldest first.
func (s *Service) Passkeys(ctx context.Context) (list []Passkey, err error) {
	p := From(ctx)
	if p == nil {
		return nil, ErrUnauthenticated()
	}
	return s.passkeysOf(ctx, p.UserID)
}

func (s *Service) passkeysOf(ctx context.Context, user int64) ([]Passkey, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) ([]Passkey, error) { return passkeysWhere(ctx, tx, `user_id = $1`, user) })
}

// RemovePasskey removes a passkey of who asks.
func (s *Service) RemovePasskey(ctx context.Context, id int64) error {
	who, err := s.own(ctx)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		var name string
		found, err := tx.Find(ctx, "removing a passkey", []any{&name},
			`DELETE FROM identity_passkeys WHERE id = $1 AND user_id = $2 RETURNING name`, id, who.UserID)
		switch {
		case err != nil:
			return err
		case !found:
			return fault.New(fault.NotFound, "You have no such passkey.")
		}
		s.changed(tx)
		if err := factorLess(ctx, tx, who.UserID); err != nil {
			return err
		}
		return record(ctx, tx, "remove passkey", "user", who.Ref(), map[string]string{"name": name}, nil)
	})
}

// judgePasskey says what is wrong with the name of a passkey.
func judgePasskey(name string) error {
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName || strings.ContainsFunc(name, unicode.IsControl) {
		return fault.InvalidField("name", "Give the passkey a name of 1 to %d characters, such as that of the device.", maxName)
	}
	return nil
}

// insertPasskey stores a new passkey. Conflict: it is registered already.
func insertPasskey(ctx context.Context, tx *db.Tx, user int64, name string, c *webauthn.Credential, now time.Time) error {
	stored, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("storing a passkey: %w", err)
	}
	return tx.ChangeOne(ctx, "storing a passkey", fault.New(fault.Conflict, "This passkey is registered already."),
		`INSERT INTO identity_passkeys (user_id, credential_id, credential, name, created_at, used_at)
		VALUES ($1, $2, $3, $4, $5, 0)
		ON CONFLICT (credential_id) DO NOTHING`, user, c.ID, stored, name, db.Micros(now))
}

// acceptPasskey stores the use of a passkey with its counter, as long as nothing
// else used it since it was read.
func acceptPasskey(ctx context.Context, tx *db.Tx, k Passkey, now time.Time) error {
	stored, err := json.Marshal(k.credential)
	if err != nil {
		return fmt.Errorf("storing the use of a passkey: %w", err)
	}
	return tx.ChangeOne(ctx, "storing the use of a passkey", errWrongFactor,
		`UPDATE identity_passkeys SET credential = $1, used_at = $2 WHERE id = $3 AND credential = $4`,
		stored, db.Micros(now), k.ID, k.stored)
}

func passkeysWhere(ctx context.Context, tx *db.Tx, condition string, arg any) ([]Passkey, error) {
	return db.List(ctx, tx, "reading passkeys", func(row db.Row) (k Passkey, err error) {
		if err := row.Scan(&k.ID, &k.UserID, &k.stored, &k.Name, db.At(&k.CreatedAt), db.At(&k.UsedAt)); err != nil {
			return k, err
		}
		err = json.Unmarshal(k.stored, &k.credential)
		return k, err
	}, `SELECT id, user_id, credential, name, created_at, used_at FROM identity_passkeys WHERE `+condition+` ORDER BY id`, arg)
}

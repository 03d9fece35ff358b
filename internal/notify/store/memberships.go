package store

import (
	"context"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// Membership returns what the platform last answered; zero where it never did.
func (s *Store) Membership(ctx context.Context, k notify.MembershipKey) (m notify.Membership, err error) {
	_, err = s.db.Find(ctx, "reading group member", []any{&m.Member, db.At(&m.At)},
		`SELECT member, asked_at FROM notify_memberships WHERE connection = $1 AND group_name = $2 AND user_name = $3`,
		k.Connection, clean(k.Group), clean(k.User))
	return m, err
}

// KeepMembership keeps an answer, unless there is a later one.
func (s *Store) KeepMembership(ctx context.Context, k notify.MembershipKey, m notify.Membership) error {
	return s.db.Do(ctx, "keeping group member",
		`INSERT INTO notify_memberships (connection, group_name, user_name, member, asked_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (connection, group_name, user_name) DO UPDATE SET member = excluded.member, asked_at = excluded.asked_at
		WHERE notify_memberships.asked_at < excluded.asked_at`,
		k.Connection, clean(k.Group), clean(k.User), db.Bit(m.Member), db.Micros(m.At))
}

// forgetMemberships forgets what a platform answered that a connection no
// longer is.
func forgetMemberships(ctx context.Context, tx *db.Tx, connection string) error {
	return tx.Do(ctx, "forgetting group members", `DELETE FROM notify_memberships WHERE connection = $1`, connection)
}

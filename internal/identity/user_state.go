package identity

import (
	"context"
	"strconv"
	"strings"

	"outrigger/internal/db"
)

// UserState is what became of a user.
type UserState string

const (
	UserKnown    UserState = "known"
	UserDisabled UserState = "disabled"
	UserDeleted  UserState = "deleted" // ids are never used twice
)

// UserStates tells what became of users, by their ids.
func (s *Service) UserStates(ctx context.Context, ids ...int64) (map[int64]UserState, error) {
	states := make(map[int64]UserState, len(ids))
	if len(ids) == 0 {
		return states, nil
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		states[id], texts[i] = UserDeleted, strconv.FormatInt(id, 10)
	}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.EachRow(ctx, "reading what became of users", func(row db.Row) error {
			var id, disabled int64
			err := row.Scan(&id, &disabled)
			if states[id] = UserKnown; disabled != 0 {
				states[id] = UserDisabled
			}
			return err
		}, `SELECT id, disabled_at FROM identity_users WHERE id IN (`+strings.Join(texts, ",")+`)`)
	})
	return states, err
}

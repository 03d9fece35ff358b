package identity

import (
	"context"
	"fmt"
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
		rows, err := tx.Query(ctx, `SELECT id, disabled_at FROM identity_users WHERE id IN (`+strings.Join(texts, ",")+`)`)
		if err != nil {
			return fmt.Errorf("reading what became of users: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var id, disabled int64
			if err := rows.Scan(&id, &disabled); err != nil {
				return fmt.Errorf("reading what became of users: %w", err)
			}
			if states[id] = UserKnown; disabled != 0 {
				states[id] = UserDisabled
			}
		}
		return rows.Err()
	})
	return states, err
}

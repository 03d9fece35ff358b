package store

import (
	"context"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// pauseRules has the rules of an authorization take nothing, or take events
// again. It is no save: their versions stay, and what they were is kept. tx has
// locked the generation before it read anything: a rule that is being saved with
// the authorization is then either there already or saved by what tx writes.
func (s *Store) pauseRules(ctx context.Context, tx *db.Tx, who notify.Actor, authorization int64, paused bool) error {
	ids, err := readIDs(ctx, tx, `SELECT id FROM notify_rules
		WHERE authorization_id = $1 AND authorization_id <> 0 AND paused <> $2 ORDER BY id`,
		authorization, db.Bit(paused))
	if err != nil || len(ids) == 0 {
		return err
	}
	if err := s.beginRulesChange(ctx, tx); err != nil {
		return err
	}
	for _, id := range ids {
		if err := keepVersion(ctx, tx, id, who.Name); err != nil {
			return err
		}
		if err := tx.Do(ctx, "pausing rule",
			`UPDATE notify_rules SET paused = $1, since = `+presentGeneration+` WHERE id = $2`, db.Bit(paused), id); err != nil {
			return err
		}
	}
	return nil
}

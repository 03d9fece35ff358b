package store

import (
	"context"
	"encoding/json"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// leave notes issues that undoing has left.
func leave(ctx context.Context, tx *db.Tx, list []threads.UndoLeft) error {
	for _, l := range list {
		answer, err := json.Marshal(l.Answer)
		if err == nil {
			_, err = tx.Exec(ctx, `INSERT INTO threads_undo_left (chunk, place, issue_id, cloud_issue_id, reason, answer)
				VALUES ($1, $2, $3, $4, $5, $6)
				ON CONFLICT (chunk, place) DO UPDATE SET reason = excluded.reason, answer = excluded.answer`,
				l.At.Chunk, l.At.Issue, l.IssueID, l.CloudIssueID, string(l.Reason), string(answer))
		}
		if err != nil {
			return fmt.Errorf("noting what undoing has left: %w", err)
		}
	}
	return nil
}

// UndoLeft lists the issues that the last undoing has left, in the order of the data,
// at most limit of them; 0 is all.
func (s *Store) UndoLeft(ctx context.Context, limit int) (list []threads.UndoLeft, err error) {
	bound := ``
	if limit > 0 {
		bound = fmt.Sprintf(` LIMIT %d`, limit)
	}
	return db.ReadList(ctx, s.db, "reading what undoing has left", func(row db.Row) (l threads.UndoLeft, err error) {
		var answer []byte
		if err := row.Scan(&l.At.Chunk, &l.At.Issue, &l.IssueID, &l.CloudIssueID, &l.Reason, &answer); err != nil {
			return l, err
		}
		err = json.Unmarshal(answer, &l.Answer)
		return l, err
	}, `SELECT chunk, place, issue_id, cloud_issue_id, reason, answer FROM threads_undo_left ORDER BY chunk, place`+bound)
}

// forgetLeft forgets what an undoing before has left.
func forgetLeft(ctx context.Context, tx *db.Tx) error {
	return tx.Do(ctx, "forgetting what undoing has left", `DELETE FROM threads_undo_left`)
}

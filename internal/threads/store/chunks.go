package store

import (
	"context"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// Chunks reads up to limit chunks of a stage, from a number on: fewer at its
// end, and an error where one is missing between.
func (s *Store) Chunks(ctx context.Context, stage, from int64, limit int) (chunks []*threads.Chunk, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.EachRow(ctx, "reading chunks", func(row db.Row) error {
			c, data := &threads.Chunk{}, []byte(nil)
			if err := row.Scan(&c.Number, &c.Records, &c.Errors, &data); err != nil {
				return err
			}
			if err := c.Decode(data); err != nil {
				return fmt.Errorf("chunk %d: %w", c.Number, err)
			}
			if want := from + int64(len(chunks)); c.Number != want {
				return fmt.Errorf("chunk %d is not there", want)
			}
			chunks = append(chunks, c)
			return nil
		}, `SELECT number, records, errors, data FROM threads_chunks
			WHERE stage_id = $1 AND number >= $2 ORDER BY number LIMIT $3`, stage, from, limit)
	})
	return chunks, err
}

// Errors returns up to limit permanent errors after a place, of what has been
// processed.
func (s *Store) Errors(ctx context.Context, after threads.ErrorPlace, limit int) ([]threads.ErrorRecord, error) {
	m, err := s.Migration(ctx)
	if err != nil || m.Stage == 0 || m.Phase == threads.PhaseLoading || m.Phase == threads.PhaseReady {
		return nil, err
	}
	var list []threads.ErrorRecord
	for from := after.Chunk; len(list) < limit; {
		c, err := s.ChunkWithErrors(ctx, m.Stage, from, m.ChunksDone)
		if err != nil || c == nil {
			return list, err
		}
		issues := c.Issues
		if c.Number == m.ChunksDone {
			issues = issues[:min(int(m.IssuesInChunk), len(issues))]
		}
		n := int64(0)
		for place, i := range issues {
			for _, e := range i.Entries {
				n++
				if m.Pending(e.Reason, threads.Place{Chunk: c.Number, Issue: int64(place)}) {
					continue
				}
				if e.Reason != "" && (c.Number > after.Chunk || n > after.Entry) && len(list) < limit {
					list = append(list, threads.ErrorRecord{
						Record: threads.Record{IssueID: i.IssueID, CommentID: e.CommentID, ParentCommentID: e.ParentCommentID}, Reason: e.Reason,
						Answer: m.Groups.AnswerTo(i, e.Reason), At: threads.ErrorPlace{Chunk: c.Number, Entry: n},
					})
				}
			}
		}
		from = c.Number + 1
	}
	return list, nil
}

// ChunkWithErrors reads the first chunk from one number to another that has
// errors, nil when there is none.
func (s *Store) ChunkWithErrors(ctx context.Context, stage, from, to int64) (*threads.Chunk, error) {
	var number int64
	err := s.db.Get(ctx, "finding errors", []any{&number}, `SELECT coalesce(min(number), -1) FROM threads_chunks
		WHERE stage_id = $1 AND number >= $2 AND number <= $3 AND errors > 0`, stage, from, to)
	if err != nil || number < 0 {
		return nil, err
	}
	chunks, err := s.Chunks(ctx, stage, number, 1)
	if err != nil || len(chunks) == 0 {
		return nil, err
	}
	return chunks[0], nil
}

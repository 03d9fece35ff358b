package threads

import (
	"context"
	"fmt"
	"slices"

	"outrigger/internal/db"
)

// Written is what a worker did since its last commit.
type Written struct {
	// Add are to be added to the maps of the database, where that is the target.
	Add []*News
	// Put are maps as another target has them now.
	Put []IssueMap
	// Chunks have entries whose reason only the target knew.
	Chunks []*Chunk
}

// News are the relations that an issue of a chunk brings.
type News struct {
	IssueMap
	Chunk *Chunk
	Place int

	// Closing are the comments, of those whose relations would close a cycle with
	// what the target holds. Commit finds them.
	Closing []int64
}

// Commit stores what a worker did, with how the migration stands then, in one
// transaction: ErrOvertaken when it is no longer that worker's to say. When m
// has left PhaseProcessing, the worker's turn is over. What another target has
// now is stored also for a worker that was stopped, if nobody has its lease:
// it has been written there.
func (s *Store) Commit(ctx context.Context, h Holder, m *Migration, w Written) error {
	after, overtaken := *m, false
	err := s.db.WriteBulk(ctx, func(tx *db.Tx) error {
		after = *m
		if err := fenced(ctx, tx, h); err != nil {
			return err
		}
		stored, err := readMigration(ctx, tx, forUpdate(tx))
		if err != nil {
			return err
		}
		if overtaken = stored.Epoch != m.Epoch || stored.Phase != PhaseProcessing; overtaken {
			return s.written(ctx, tx, &after, Written{Put: w.Put})
		}
		if err := s.written(ctx, tx, &after, w); err != nil {
			return err
		}
		if after.Phase == PhaseCompleted { // a migration ends with a comparison
			if _, err := s.beginVerify(ctx, tx, &after, true); err != nil {
				return err
			}
		}
		if after.Phase != PhaseProcessing {
			after.Epoch++
			tx.AfterCommit(s.Changed)
		}
		return writeMigration(ctx, tx, &after)
	})
	if err == nil && overtaken {
		err = ErrOvertaken
	}
	if err == nil {
		*m = after
	}
	return err
}

func (s *Store) written(ctx context.Context, tx *db.Tx, m *Migration, w Written) error {
	if len(w.Add)+len(w.Put) > 0 {
		maps, err := s.writeMaps(ctx, tx)
		if err != nil {
			return err
		}
		if err := maps.add(ctx, w.Add); err != nil {
			return err
		}
		if err := maps.put(ctx, w.Put); err != nil {
			return err
		}
	}
	changed := slices.Clone(w.Chunks)
	for _, n := range w.Add {
		if len(n.Closing) == 0 {
			continue
		}
		n.Chunk.RefuseComments(n.Place, n.Closing, Cycle)
		m.ParentMaps -= int64(len(n.Closing))
		m.Permanent += int64(len(n.Closing))
		if !slices.Contains(changed, n.Chunk) {
			changed = append(changed, n.Chunk)
		}
	}
	for _, c := range changed {
		if _, err := tx.Exec(ctx, `UPDATE threads_chunks SET errors = $3, data = $4 WHERE stage_id = $1 AND number = $2`,
			m.Stage, c.Number, c.Errors, c.Encode()); err != nil {
			return fmt.Errorf("note errors: %w", err)
		}
	}
	return nil
}

// Chunks reads up to limit chunks of a stage, from a number on: fewer at its
// end, and an error where one is missing between.
func (s *Store) Chunks(ctx context.Context, stage, from int64, limit int) (chunks []*Chunk, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		chunks = nil
		rows, err := tx.Query(ctx, `SELECT number, records, errors, data FROM threads_chunks
			WHERE stage_id = $1 AND number >= $2 ORDER BY number LIMIT $3`, stage, from, limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			c, data := &Chunk{}, []byte(nil)
			if err := rows.Scan(&c.Number, &c.Records, &c.Errors, &data); err != nil {
				return err
			}
			if err := c.Decode(data); err != nil {
				return fmt.Errorf("chunk %d: %w", c.Number, err)
			}
			if want := from + int64(len(chunks)); c.Number != want {
				return fmt.Errorf("chunk %d is not there", want)
			}
			chunks = append(chunks, c)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	return chunks, nil
}

// ErrorRecord is a permanent error.
type ErrorRecord struct {
	Record
	Reason Reason
	At     ErrorPlace
}

// ErrorPlace is where an error is among all of them: a chunk and a place in it.
type ErrorPlace struct{ Chunk, Entry int64 }

// Errors gives up to limit permanent errors after a place, of what has been
// processed.
func (s *Store) Errors(ctx context.Context, after ErrorPlace, limit int) ([]ErrorRecord, error) {
	m, err := s.Migration(ctx)
	if err != nil || m.Stage == 0 || m.Phase == PhaseLoading || m.Phase == PhaseReady {
		return nil, err
	}
	var list []ErrorRecord
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
				if m.Pending(e.Reason, Place{c.Number, int64(place)}) {
					continue
				}
				if e.Reason != "" && (c.Number > after.Chunk || n > after.Entry) && len(list) < limit {
					list = append(list, ErrorRecord{
						Record{IssueID: i.IssueID, CommentID: e.CommentID, ParentCommentID: e.ParentCommentID}, e.Reason, ErrorPlace{c.Number, n},
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
func (s *Store) ChunkWithErrors(ctx context.Context, stage, from, to int64) (*Chunk, error) {
	var number int64
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(ctx, `SELECT coalesce(min(number), -1) FROM threads_chunks
			WHERE stage_id = $1 AND number >= $2 AND number <= $3 AND errors > 0`, stage, from, to).Scan(&number)
	})
	if err != nil {
		return nil, fmt.Errorf("find errors: %w", err)
	}
	if number < 0 {
		return nil, nil
	}
	chunks, err := s.Chunks(ctx, stage, number, 1)
	if err != nil || len(chunks) == 0 {
		return nil, err
	}
	return chunks[0], nil
}

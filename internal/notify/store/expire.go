package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// Reasons of messages that waited too long or were too many.
const (
	expiredByAge   = "expired: it waited for longer than notify.max_age allows"
	expiredByCount = "expired: more waited on its channel than notify.max_waiting allows"
)

// Expire ends the oldest messages beyond the limits, on the channels of the
// shards, and says how many those were.
func (s *Store) Expire(ctx context.Context, shards []int, l notify.Limits) (n int, err error) {
	spans, bound, cutoff, err := s.spans(ctx, shards, l.MaxAge)
	if err != nil {
		return 0, err
	}
	for _, c := range spans {
		ended := 0
		if c.first < bound {
			ended, err = s.expire(ctx, c.channel, expiredByAge, ` AND id < $2 AND queued_at < $3 AND held_until < $3`, bound, cutoff)
		}
		// Ids between the first and the last are at least as many as wait.
		if err == nil && c.last-c.first >= int64(l.MaxWaiting) {
			var more int
			more, err = s.expireBeyond(ctx, c.channel, l.MaxWaiting)
			ended += more
		}
		if ended > 0 {
			n += ended
			s.moved(c.channel)
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// span is from the first to the last delivery that waits on a channel.
type span struct{ channel, first, last int64 }

// spans returns the span of every channel on which something waits, the first id
// that is not too old, and the time before which what was put back is.
func (s *Store) spans(ctx context.Context, shards []int, age time.Duration) (found []span, bound, cutoff int64, err error) {
	if len(shards) == 0 {
		return nil, 0, 0, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		since := tx.Now().Add(-age)
		cutoff = db.Micros(since)
		if bound, err = firstSince(ctx, tx, "notify_deliveries", "created_at", since); err != nil {
			return err
		}
		return tx.EachRow(ctx, "reading what waits", func(row db.Row) error {
			var c span
			var first, last sql.NullInt64
			err := row.Scan(&c.channel, &first, &last)
			if first.Valid {
				c.first, c.last = first.Int64, last.Int64
				found = append(found, c)
			}
			return err
		}, `SELECT c.id,
				(SELECT min(d.id) FROM notify_deliveries d WHERE d.channel_id = c.id AND d.finished_at = 0),
				(SELECT max(d.id) FROM notify_deliveries d WHERE d.channel_id = c.id AND d.finished_at = 0)
			FROM notify_channels c WHERE `+inShards("c.id", shards))
	})
	return found, bound, cutoff, err
}

// expireBeyond ends what waits on a channel beyond max.
func (s *Store) expireBeyond(ctx context.Context, channel int64, max int) (int, error) {
	var last int64
	found, err := s.db.Find(ctx, "counting what waits", []any{&last}, `SELECT id FROM notify_deliveries
		WHERE channel_id = $1 AND finished_at = 0 ORDER BY id DESC LIMIT 1 OFFSET $2`, channel, max)
	if !found {
		return 0, err
	}
	return s.expire(ctx, channel, expiredByCount, ` AND id <= $2`, last)
}

// expire ends what waits on a channel and fits the condition, whose arguments
// begin at $2.
func (s *Store) expire(ctx context.Context, channel int64, reason, condition string, args ...any) (n int, err error) {
	query := fmt.Sprintf(`SELECT id FROM notify_deliveries WHERE channel_id = $1 AND finished_at = 0%s ORDER BY id LIMIT %d`,
		condition, cancelSlice)
	args = append([]any{channel}, args...)
	for ended := cancelSlice; ended == cancelSlice; n += ended {
		err := s.db.WriteBulk(ctx, func(tx *db.Tx) error {
			ids, err := lockIDs(ctx, tx, query, args...)
			if err != nil {
				return err
			}
			ended, err = s.end(ctx, tx, ids, expired, reason)
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// inShards is the condition that a column of channel ids is of the shards.
func inShards(column string, shards []int) string {
	if len(shards) == notify.Shards {
		return "TRUE"
	}
	in := make([]string, len(shards))
	for i, n := range shards {
		in[i] = fmt.Sprint(n)
	}
	return fmt.Sprintf("%s %% %d IN (%s)", column, notify.Shards, strings.Join(in, ", "))
}

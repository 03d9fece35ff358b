package notify

import (
	"context"
	"fmt"
	"strings"
	"time"

	"outrigger/internal/db"
)

// Summary is the wing at a glance.
type Summary struct {
	Delivered, Failed int // since the time asked for
	Waiting           int
	NotUnderstood     int
	Broken            []BrokenChannel // at most 10
}

// BrokenChannel is a broken channel that rules still use.
type BrokenChannel struct {
	RuleID int64  // one of them
	Rules  string // their names
	Reason string
}

// Summary counts what happened since a time, and what is wrong now.
func (s *Store) Summary(ctx context.Context, since time.Time) (Summary, error) {
	var sum Summary
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		first, err := firstSince(ctx, tx, "notify_deliveries", "created_at", since)
		if err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `SELECT
				(SELECT count(*) FROM notify_deliveries WHERE id >= $1 AND state = 'delivered'),
				(SELECT count(*) FROM notify_deliveries WHERE id >= $1 AND state = 'failed'),
				(SELECT count(*) FROM notify_deliveries WHERE finished_at = 0)`, first).
			Scan(&sum.Delivered, &sum.Failed, &sum.Waiting); err != nil {
			return fmt.Errorf("count deliveries: %w", err)
		}
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM notify_events WHERE outcome = 'not_understood' AND received_at >= $1`,
			db.Micros(since)).Scan(&sum.NotUnderstood); err != nil {
			return fmt.Errorf("count events: %w", err)
		}
		sum.Broken, err = readBroken(ctx, tx)
		return err
	})
	return sum, err
}

// firstSince finds the first id of a table whose time is not before since, by
// bisection: ids are given in the order of time, and the time has no index.
func firstSince(ctx context.Context, tx *db.Tx, table, column string, since time.Time) (int64, error) {
	var low, high int64
	if err := tx.QueryRow(ctx, `SELECT coalesce(min(id), 0), coalesce(max(id) + 1, 0) FROM `+table).Scan(&low, &high); err != nil {
		return 0, fmt.Errorf("bounds of %s: %w", table, err)
	}
	for low < high {
		middle := low + (high-low)/2
		var id, at int64
		err := tx.QueryRow(ctx, `SELECT id, `+column+` FROM `+table+` WHERE id >= $1 ORDER BY id LIMIT 1`, middle).Scan(&id, &at)
		if err != nil {
			return 0, fmt.Errorf("bisect %s: %w", table, err)
		}
		if at >= db.Micros(since) {
			high = middle
		} else {
			low = id + 1
		}
	}
	return low, nil
}

func readBroken(ctx context.Context, tx *db.Tx) ([]BrokenChannel, error) {
	rows, err := tx.Query(ctx, `SELECT c.id, c.reason, r.id, r.name FROM notify_channels c
		JOIN notify_rules r ON r.channel_id = c.id WHERE c.state = 'broken' ORDER BY c.id, r.name LIMIT 100`)
	if err != nil {
		return nil, fmt.Errorf("broken channels: %w", err)
	}
	defer rows.Close()
	var out []BrokenChannel
	var last int64
	for rows.Next() {
		var channel, rule int64
		var reason, name string
		if err := rows.Scan(&channel, &reason, &rule, &name); err != nil {
			return nil, fmt.Errorf("broken channels: %w", err)
		}
		if channel == last {
			b := &out[len(out)-1]
			b.Rules = strings.Join([]string{b.Rules, name}, ", ")
			continue
		}
		if len(out) == 10 {
			break
		}
		last = channel
		out = append(out, BrokenChannel{RuleID: rule, Rules: name, Reason: reason})
	}
	return out, rows.Err()
}

// Channels gives the channels of deliveries by id.
func (s *Store) Channels(ctx context.Context, deliveries []*Delivery) (map[int64]Channel, error) {
	found := make(map[int64]Channel)
	for _, d := range deliveries {
		if _, ok := found[d.ChannelID]; ok {
			continue
		}
		c, _, err := s.Channel(ctx, d.ChannelID)
		if err != nil {
			return nil, err
		}
		found[d.ChannelID] = c
	}
	return found, nil
}

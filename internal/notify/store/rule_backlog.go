package store

import (
	"context"
	"math"
	"slices"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

const (
	// maxOwnCounted is how many messages of a rule's channel are looked at for
	// whose they are: the rows of all of them are read.
	maxOwnCounted = 1000
	// noLimit counts all.
	noLimit = math.MaxInt32
)

// countOwnWaiting sets how many messages wait for each rule, where countWaiting
// has set how many wait on its channel. It looks at the oldest messages of each
// channel, at most so many.
func countOwnWaiting(ctx context.Context, tx *db.Tx, rules []notify.RuleInfo, most int) error {
	byChannel := make(map[int64][]*notify.RuleInfo)
	for i := range rules {
		if r := &rules[i]; r.Channel.Waiting > 0 {
			byChannel[r.ChannelID] = append(byChannel[r.ChannelID], r)
		}
	}
	for channel, of := range byChannel {
		if err := countOwnOfChannel(ctx, tx, channel, of, most); err != nil {
			return err
		}
	}
	return nil
}

func countOwnOfChannel(ctx context.Context, tx *db.Tx, channel int64, rules []*notify.RuleInfo, most int) error {
	if rules[0].Channel.Waiting >= most { // it may have been counted no further
		var more bool
		if err := tx.Get(ctx, "looking for more that waits", []any{&more}, `SELECT EXISTS (SELECT 1 FROM notify_deliveries
			WHERE channel_id = $1 AND finished_at = 0 ORDER BY id LIMIT 1 OFFSET $2)`, channel, most); err != nil {
			return err
		}
		for _, r := range rules {
			r.Backlog.More = more
		}
	}
	return tx.EachRow(ctx, "counting what waits for rules", func(row db.Row) error {
		var encoded string
		var n int
		if err := row.Scan(&encoded, &n); err != nil {
			return err
		}
		takers := decodeIDs(encoded)
		for _, r := range rules {
			if !slices.Contains(takers, r.ID) {
				continue
			}
			r.Backlog.Waiting += n
			if len(takers) == 1 {
				r.Backlog.Alone += n
			}
		}
		return nil
	}, `SELECT rules, count(*) FROM
		(SELECT rules FROM notify_deliveries WHERE channel_id = $1 AND finished_at = 0 ORDER BY id LIMIT $2) AS oldest GROUP BY rules`,
		channel, most)
}

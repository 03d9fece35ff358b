package store

import (
	"context"
	"math"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// channelUsed is the condition that a rule or a report sends to a channel.
const channelUsed = `(EXISTS (SELECT 1 FROM notify_rules r WHERE r.channel_id = c.id)
	OR EXISTS (SELECT 1 FROM notify_reports r WHERE r.channel_id = c.id))`

// channelThere is the condition that a channel is one for people: something sends to
// it, or it stays without.
const channelThere = `(c.kept = 1 OR ` + channelUsed + `)`

// channelTrouble is the condition that a channel's rank is above 0. It has an index,
// so that those in trouble are found among any number of channels.
const channelTrouble = `(c.state = 'broken' OR c.failing_since > 0)`

const channelRank = `CASE WHEN c.state = 'broken' THEN 2 WHEN c.failing_since > 0 THEN 1 ELSE 0 END`

// channelNamed is the condition that a channel may be called as was searched for, $1, a
// pattern, $2: by its own name, by its rules or reports, or by its host.
const channelNamed = `($1 = '' OR LOWER(c.name) LIKE $2 ESCAPE '\' OR LOWER(c.host || ' ' || c.fingerprint) LIKE $2 ESCAPE '\'
	OR EXISTS (SELECT 1 FROM notify_rules r WHERE r.channel_id = c.id AND LOWER(r.channel_name) LIKE $2 ESCAPE '\')
	OR EXISTS (SELECT 1 FROM notify_reports r WHERE r.channel_id = c.id AND LOWER(r.channel_name) LIKE $2 ESCAPE '\'))`

// readChannelInfos reads channels in the order of their ids here, without how many
// messages wait.
func readChannelInfos(ctx context.Context, tx *db.Tx, ids []int64) ([]notify.ChannelInfo, error) {
	byID := make(map[int64]*notify.ChannelInfo, len(ids))
	out := make([]notify.ChannelInfo, len(ids))
	for i, id := range ids {
		byID[id] = &out[i]
	}
	if err := addChannels(ctx, tx, ids, byID); err != nil {
		return nil, err
	}
	if err := addShares(ctx, tx, ids, byID); err != nil {
		return nil, err
	}
	if err := addChannelRules(ctx, tx, ids, byID); err != nil {
		return nil, err
	}
	reports, err := readReports(ctx, tx, `r.channel_id IN (`+list(ids)+`) ORDER BY r.name, r.id`)
	if err != nil {
		return nil, err
	}
	for i := range reports {
		c := byID[reports[i].ChannelID]
		c.Reports = append(c.Reports, reports[i].Report)
	}
	return out, nil
}

// countOnChannels sets how many messages wait on channels, up to most, and how many
// of these quiet hours hold.
func countOnChannels(ctx context.Context, tx *db.Tx, channels []notify.ChannelInfo, most int) error {
	of := make([]*notify.Channel, len(channels))
	for i := range channels {
		of[i] = &channels[i].Channel
	}
	if err := countChannelsWaiting(ctx, tx, of, most); err != nil {
		return err
	}
	if err := countHeld(ctx, tx, channels); err != nil {
		return err
	}
	var all []*notify.Channel // of which more are held than were counted
	for i := range channels {
		if c := &channels[i]; c.Held >= most {
			all = append(all, &c.Channel)
		}
	}
	return countChannelsWaiting(ctx, tx, all, noLimit)
}

// addChannels reads the channels themselves.
func addChannels(ctx context.Context, tx *db.Tx, ids []int64, to map[int64]*notify.ChannelInfo) error {
	return tx.EachRow(ctx, "reading channels", func(row db.Row) error {
		var c notify.ChannelInfo
		into := append(channelInto(&c.Channel), &c.Kept, &c.SharedWith.Everyone, &c.WasShared, &c.OwnerID, &c.UpdatedBy, db.At(&c.UpdatedAt))
		if err := row.Scan(into...); err != nil {
			return err
		}
		*to[c.ID] = c
		return nil
	}, `SELECT `+channelColumns+`, c.kept, c.everyone, c.was_shared, c.owner_id, c.updated_by, c.updated_at
		FROM notify_channels c WHERE c.id IN (`+list(ids)+`)`)
}

// addShares reads with which projects channels are shared.
func addShares(ctx context.Context, tx *db.Tx, ids []int64, to map[int64]*notify.ChannelInfo) error {
	return tx.EachRow(ctx, "reading with whom channels are shared", func(row db.Row) error {
		var channel int64
		var p notify.SharedProject
		if err := row.Scan(&channel, &p.Connection, &p.ProjectKey); err != nil {
			return err
		}
		with := &to[channel].SharedWith
		with.Projects = append(with.Projects, p)
		return nil
	}, `SELECT channel_id, connection, project_key FROM notify_channel_shares WHERE channel_id IN (`+list(ids)+`)
		ORDER BY connection, project_fold`)
}

// addChannelRules reads what channels have of the rules that send to them, without
// their filters: a list of channels may have thousands of rules.
func addChannelRules(ctx context.Context, tx *db.Tx, ids []int64, to map[int64]*notify.ChannelInfo) error {
	return tx.EachRow(ctx, "reading the rules of channels", func(row db.Row) error {
		var channel int64
		var r notify.ChannelRule
		if err := row.Scan(&channel, &r.ID, &r.Name, &r.Connection, &r.ProjectKey, &r.RepositoryKey, &r.ChannelName, &r.Format); err != nil {
			return err
		}
		to[channel].Rules = append(to[channel].Rules, r)
		return nil
	}, `SELECT r.channel_id, r.id, r.name, r.connection, r.project_key, r.repository_key, r.channel_name, r.format
		FROM notify_rules r WHERE r.channel_id IN (`+list(ids)+`) ORDER BY r.name, r.id`)
}

// countHeld sets how many messages quiet hours hold on channels, and until when.
func countHeld(ctx context.Context, tx *db.Tx, channels []notify.ChannelInfo) error {
	now := db.Micros(tx.Now())
	of := make([][]any, len(channels))
	for i := range channels {
		of[i] = []any{channels[i].ID, now}
	}
	return tx.Each(ctx, "counting what quiet hours hold", `SELECT count(*), coalesce(min(held_until), 0) FROM notify_deliveries
		WHERE channel_id = $1 AND held_until > 0 AND held_until > $2 AND finished_at = 0`, of,
		func(i int, row db.Row) error {
			var n, until int64
			err := row.Scan(&n, &until)
			channels[i].Held, channels[i].HeldUntil = int(n), db.Time(until)
			return err
		})
}

// troubledWhere selects the channels that are broken, or on which messages have
// waited for too long, $1.
const troubledWhere = ` FROM notify_channels c
		WHERE ` + channelTrouble + ` AND (c.state = 'broken' OR c.failing_since > 0 AND c.failing_since <= $1
			AND EXISTS (SELECT 1 FROM notify_deliveries d WHERE d.channel_id = c.id AND d.finished_at = 0))
		AND ` + channelUsed

// troubledSince is since when such a channel is.
const troubledSince = `CASE WHEN c.state = 'broken' THEN c.broken_at ELSE c.failing_since END`

// readTroubled returns the channels in trouble, the worst first: at most max of
// all. others is since when the first of the rest is.
func readTroubled(ctx context.Context, tx *db.Tx, max int) (worst []notify.ChannelInfo, all int, others time.Time, err error) {
	since := db.Micros(tx.Now().Add(-notify.TroubleAfter))
	const worstFirst = ` ORDER BY ` + channelRank + ` DESC, c.failing_since, c.id`
	ids, err := readIDs(ctx, tx, `SELECT c.id`+troubledWhere+worstFirst+` LIMIT $2`, since, max)
	if err != nil || len(ids) == 0 {
		return nil, 0, others, err
	}
	if all = len(ids); all == max {
		var more int
		if err := tx.Get(ctx, "counting troubled channels", []any{&more, db.At(&others)}, `SELECT count(*), coalesce(min(since), 0)
			FROM (SELECT `+troubledSince+` AS since`+troubledWhere+worstFirst+` LIMIT $2 OFFSET $3) rest`,
			since, math.MaxInt32, max); err != nil {
			return nil, 0, others, err
		}
		all += more
	}
	if worst, err = readChannelInfos(ctx, tx, ids); err == nil {
		err = countOnChannels(ctx, tx, worst, notify.MaxListed)
	}
	return worst, all, others, err
}

// readRetrying counts what waits on channels that are tried again and that readTroubled
// does not have yet.
func readRetrying(ctx context.Context, tx *db.Tx) (r notify.Retrying, err error) {
	now := tx.Now()
	err = tx.Get(ctx, "counting what is tried again", []any{&r.Channels, &r.Messages, db.At(&r.Next)},
		`SELECT count(*), CAST(coalesce(sum(waiting), 0) AS BIGINT), coalesce(min(gate_until), 0) FROM (
			SELECT c.gate_until, (SELECT count(*) FROM (SELECT 1 FROM notify_deliveries d
				WHERE d.channel_id = c.id AND d.finished_at = 0 AND d.held_until <= $2 LIMIT $3) w) AS waiting
			FROM notify_channels c WHERE `+channelTrouble+` AND c.state <> 'broken' AND c.failing_since > $1 AND `+channelUsed+` LIMIT $3) r
		WHERE waiting > 0`, db.Micros(now.Add(-notify.TroubleAfter)), db.Micros(now), notify.MaxListed)
	return r, err
}

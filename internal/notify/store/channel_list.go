package store

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// firstRank is above every rank.
const firstRank = 3

// channelUsed is the condition that a rule or a report sends to a channel.
const channelUsed = `(EXISTS (SELECT 1 FROM notify_rules r WHERE r.channel_id = c.id)
	OR EXISTS (SELECT 1 FROM notify_reports r WHERE r.channel_id = c.id))`

const channelRank = `CASE WHEN c.state = 'broken' THEN 2 WHEN c.failing_since > 0 THEN 1 ELSE 0 END`

// ListChannels gives one page of channels, with how many messages wait.
func (s *Store) ListChannels(ctx context.Context, p notify.ChannelPage) ([]notify.ChannelInfo, error) {
	if p.AfterID == 0 {
		p.AfterRank = firstRank
	}
	var out []notify.ChannelInfo
	for limit := p.Limit; len(out) < p.Limit; limit = maxRead {
		read, err := s.readChannelPage(ctx, p, limit)
		if err != nil {
			return nil, err
		}
		for i := range read {
			if p.Visible(&read[i]) && len(out) < p.Limit {
				out = append(out, read[i])
			}
		}
		if len(read) < limit {
			break
		}
		last := &read[len(read)-1]
		p.AfterRank, p.AfterID = last.Rank(), last.ID
	}
	return out, nil
}

func (s *Store) readChannelPage(ctx context.Context, p notify.ChannelPage, limit int) (out []notify.ChannelInfo, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		ids, err := readIDs(ctx, tx, `SELECT c.id FROM notify_channels c WHERE `+channelUsed+`
			AND (`+channelRank+` < $1 OR `+channelRank+` = $1 AND c.id > $2) ORDER BY `+channelRank+` DESC, c.id LIMIT $3`,
			p.AfterRank, p.AfterID, limit)
		if err != nil || len(ids) == 0 {
			return err
		}
		out, err = readChannelInfos(ctx, tx, ids)
		return err
	})
	return out, err
}

// readChannelInfos reads channels in the order of their ids here.
func readChannelInfos(ctx context.Context, tx *db.Tx, ids []int64) ([]notify.ChannelInfo, error) {
	rules, err := readRuleInfos(ctx, tx, `r.channel_id IN (`+list(ids)+`) ORDER BY r.name, r.id`)
	if err != nil {
		return nil, err
	}
	reports, err := readReports(ctx, tx, `r.channel_id IN (`+list(ids)+`) ORDER BY r.name, r.id`)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]*notify.ChannelInfo, len(ids))
	out := make([]notify.ChannelInfo, len(ids))
	channels := make([]*notify.Channel, len(ids))
	for i, id := range ids {
		byID[id], channels[i] = &out[i], &out[i].Channel
	}
	for i := range rules {
		c := byID[rules[i].ChannelID]
		c.Channel = rules[i].Channel
		c.Rules = append(c.Rules, rules[i].Rule)
	}
	for i := range reports {
		c := byID[reports[i].ChannelID]
		c.Channel = reports[i].Channel
		c.Reports = append(c.Reports, reports[i].Report)
	}
	if err := countChannelsWaiting(ctx, tx, channels); err != nil {
		return nil, err
	}
	return out, countHeld(ctx, tx, out)
}

// countHeld sets how many messages quiet hours hold on channels, and until when.
func countHeld(ctx context.Context, tx *db.Tx, channels []notify.ChannelInfo) error {
	now := db.Micros(tx.Now())
	of := make([][]any, len(channels))
	for i := range channels {
		of[i] = []any{channels[i].ID, now}
	}
	err := tx.Each(ctx, `SELECT count(*), coalesce(min(held_until), 0) FROM notify_deliveries
		WHERE channel_id = $1 AND held_until > 0 AND held_until > $2 AND finished_at = 0`, of,
		func(i int, row db.Row) error {
			var n, until int64
			err := row.Scan(&n, &until)
			channels[i].Held, channels[i].HeldUntil = int(n), db.Time(until)
			return err
		})
	if err != nil {
		return fmt.Errorf("counting what quiet hours hold: %w", err)
	}
	return nil
}

// ChannelOf gives the channel with a fingerprint: fault.NotFound where no rule or
// report uses such a one.
func (s *Store) ChannelOf(ctx context.Context, fingerprint string) (info notify.ChannelInfo, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		ids, err := readIDs(ctx, tx, `SELECT c.id FROM notify_channels c WHERE c.fingerprint = $1 AND `+channelUsed, clean(fingerprint))
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			return fault.New(fault.NotFound, "There is no channel %q.", fingerprint)
		}
		found, err := readChannelInfos(ctx, tx, ids)
		if err == nil {
			info = found[0]
		}
		return err
	})
	return info, err
}

// RenameChannel has all rules and reports of a channel call it so.
func (s *Store) RenameChannel(ctx context.Context, who notify.Actor, id int64, name string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := s.beginRulesChange(ctx, tx); err != nil {
			return err
		}
		rules, err := readRuleInfos(ctx, tx, `r.channel_id = $1 ORDER BY r.id`, id)
		if err != nil {
			return err
		}
		for _, before := range rules {
			after := before
			after.ChannelName = name
			after.Version, after.UpdatedBy, after.UpdatedAt = before.Version+1, who.Name, tx.Now()
			if err := updateRule(ctx, tx, &after.Rule); err != nil {
				return err
			}
			if err := recordRule(ctx, tx, who, "update", &before, &after); err != nil {
				return err
			}
		}
		return nameReportsChannel(ctx, tx, who, id, name)
	})
}

func nameReportsChannel(ctx context.Context, tx *db.Tx, who notify.Actor, channel int64, name string) error {
	reports, err := readReports(ctx, tx, `r.channel_id = $1 ORDER BY r.id`, channel)
	if err != nil {
		return err
	}
	for i := range reports {
		before, after := &reports[i], reports[i]
		after.ChannelName, after.Version = name, before.Version+1
		after.UpdatedBy, after.UpdatedByID, after.UpdatedAt = who.Name, who.UserID, tx.Now()
		if err := updateReport(ctx, tx, &after.Report); err != nil {
			return err
		}
		if err := recordReport(ctx, tx, who, "update", before, &after); err != nil {
			return err
		}
	}
	return nil
}

// troubleAfter is how long a channel may fail before people are told.
const troubleAfter = 5 * time.Minute

// troubledWhere selects the channels that are broken, or on which messages have
// waited for too long, $1.
const troubledWhere = ` FROM notify_channels c
		WHERE (c.state = 'broken' OR c.failing_since > 0 AND c.failing_since <= $1
			AND EXISTS (SELECT 1 FROM notify_deliveries d WHERE d.channel_id = c.id AND d.finished_at = 0))
		AND ` + channelUsed

// readTroubled gives the channels in trouble, the worst first: at most max of
// all.
func readTroubled(ctx context.Context, tx *db.Tx, max int) (worst []notify.ChannelInfo, all int, err error) {
	since := db.Micros(tx.Now().Add(-troubleAfter))
	ids, err := readIDs(ctx, tx, `SELECT c.id`+troubledWhere+` ORDER BY `+channelRank+` DESC, c.failing_since, c.id LIMIT $2`, since, max)
	if err != nil || len(ids) == 0 {
		return nil, 0, err
	}
	if all = len(ids); all == max {
		if err := tx.QueryRow(ctx, `SELECT count(*)`+troubledWhere, since).Scan(&all); err != nil {
			return nil, 0, fmt.Errorf("counting troubled channels: %w", err)
		}
	}
	if worst, err = readChannelInfos(ctx, tx, ids); err != nil {
		return nil, 0, fmt.Errorf("reading troubled channels: %w", err)
	}
	return worst, all, nil
}

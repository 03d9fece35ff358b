package store

import (
	"context"
	"slices"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// firstRank is above every rank.
const firstRank = 3

// ListChannels returns one page of channels, with how many messages wait.
func (s *Store) ListChannels(ctx context.Context, p notify.ChannelPage) (out []notify.ChannelInfo, err error) {
	if p.AfterID == 0 {
		p.AfterRank = firstRank
	}
	for limit, more := p.Limit, true; more && len(out) < p.Limit; limit = maxRead {
		err = s.db.Read(ctx, func(tx *db.Tx) error {
			read, err := readRankedChannels(ctx, tx, p, limit)
			if more = len(read) == limit; more {
				p.AfterRank, p.AfterID = read[limit-1].rank, read[limit-1].id
			}
			if err != nil || len(read) == 0 {
				return err
			}
			visible, err := readVisibleChannels(ctx, tx, p, read)
			out = append(out, visible[:min(len(visible), p.Limit-len(out))]...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readVisibleChannels reads those of some channels that the page shows. What is visible of
// channels in trouble may depend on how much waits; of others, without a search, it is
// decided by who uses them, so that of those that are passed over nothing else is read.
func readVisibleChannels(ctx context.Context, tx *db.Tx, p notify.ChannelPage, of []rankedChannel) ([]notify.ChannelInfo, error) {
	ids := make([]int64, len(of))
	for i, c := range of {
		ids[i] = c.id
	}
	var err error
	if p.Search == "" && !p.InTrouble {
		if ids, err = usedByVisible(ctx, tx, ids, p.Visible); err != nil || len(ids) == 0 {
			return nil, err
		}
		ids = ids[:min(len(ids), p.Limit)]
	}
	found, err := readChannelInfos(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	hidden := func(c notify.ChannelInfo) bool { return !p.Visible(&c) }
	if !p.InTrouble {
		found = slices.DeleteFunc(found, hidden)
	}
	if !p.Uncounted {
		err = countOnChannels(ctx, tx, found, notify.MaxListed)
	}
	if p.InTrouble {
		found = slices.DeleteFunc(found, hidden)
	}
	return found, err
}

// usedByVisible returns those of the channels that are visible by who made them, with
// whom they are shared, and the places of what sends to them.
func usedByVisible(ctx context.Context, tx *db.Tx, ids []int64, visible func(*notify.ChannelInfo) bool) ([]int64, error) {
	byID := make(map[int64]*notify.ChannelInfo, len(ids))
	for _, id := range ids {
		byID[id] = new(notify.ChannelInfo)
	}
	err := tx.EachRow(ctx, "reading who made channels", func(row db.Row) error {
		var c notify.ChannelInfo
		err := row.Scan(&c.ID, &c.OwnerID, &c.SharedWith.Everyone)
		*byID[c.ID] = c
		return err
	}, `SELECT c.id, c.owner_id, c.everyone FROM notify_channels c WHERE c.id IN (`+list(ids)+`)`)
	if err != nil {
		return nil, err
	}
	if err := addShares(ctx, tx, ids, byID); err != nil {
		return nil, err
	}
	err = tx.EachRow(ctx, "reading where channels are used", func(row db.Row) error {
		var channel int64
		var ofReport bool
		var connection, project, repository string
		err := row.Scan(&channel, &ofReport, &connection, &project, &repository)
		if c := byID[channel]; ofReport {
			c.Reports = append(c.Reports, notify.Report{Connection: connection, ProjectKey: project, RepositoryKey: repository})
		} else {
			c.Rules = append(c.Rules, notify.ChannelRule{Connection: connection, ProjectKey: project, RepositoryKey: repository})
		}
		return err
	}, `SELECT channel_id, 0, connection, project_key, repository_key FROM notify_rules WHERE channel_id IN (`+list(ids)+`)
		UNION ALL SELECT channel_id, 1, connection, project_key, repository_key FROM notify_reports WHERE channel_id IN (`+list(ids)+`)`)
	return slices.DeleteFunc(ids, func(id int64) bool { return !visible(byID[id]) }), err
}

// rankedChannel is the place of a channel in the list.
type rankedChannel struct {
	id   int64
	rank int
}

// The channels of a page: those in trouble, then the others. In one query every
// channel would be ranked and sorted for each page.
const (
	troubledPage = `SELECT c.id, ` + channelRank + ` FROM notify_channels c
		WHERE ` + channelTrouble + ` AND ` + channelThere + ` AND ` + channelNamed + `
		AND (` + channelRank + ` < $3 OR ` + channelRank + ` = $3 AND c.id > $4) ORDER BY ` + channelRank + ` DESC, c.id LIMIT $5`
	untroubledPage = `SELECT c.id, ` + channelRank + ` FROM notify_channels c
		WHERE NOT ` + channelTrouble + ` AND ` + channelThere + ` AND ` + channelNamed + `
		AND c.id > $3 ORDER BY c.id LIMIT $4`
)

func readRankedChannels(ctx context.Context, tx *db.Tx, p notify.ChannelPage, limit int) (found []rankedChannel, err error) {
	search := clean(p.Search)
	if p.AfterRank > 0 {
		found, err = db.List(ctx, tx, "reading channels in trouble", scanRanked, troubledPage, search, containing(search), p.AfterRank,
			p.AfterID, limit)
		if err != nil || len(found) == limit || p.InTrouble {
			return found, err
		}
		p.AfterID = 0
	}
	others, err := db.List(ctx, tx, "reading channels", scanRanked, untroubledPage, search, containing(search), p.AfterID, limit-len(found))
	return append(found, others...), err
}

func scanRanked(row db.Row) (c rankedChannel, err error) {
	err = row.Scan(&c.id, &c.rank)
	return c, err
}

package store

import (
	"cmp"
	"context"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// CreateChannel makes a channel that stays without rules and reports. fault.Conflict:
// there is one of its webhook URL, or who makes it has notify.MaxOwnChannels that
// nothing sends to.
func (s *Store) CreateChannel(ctx context.Context, who notify.Actor, change notify.ChannelChange) (made notify.ChannelInfo, err error) {
	err = s.changeRules(ctx, func(tx *db.Tx) error {
		url := change.URL.Reveal()
		if err := freeURL(ctx, tx, url, 0); err != nil {
			return err
		}
		id, err := s.ensureChannel(ctx, tx, url)
		if err != nil {
			return err
		}
		if err := keepChannel(ctx, tx, who, id); err != nil {
			return err
		}
		if err := writeChannel(ctx, tx, who, id, &change.ChannelDraft); err != nil {
			return err
		}
		if made, err = readChannelInfo(ctx, tx, id); err != nil {
			return err
		}
		return recordChannel(ctx, tx, who, "create", nil, &made)
	})
	return made, err
}

// keepChannel has a channel stay without rules and reports from now on, as one of the
// user's. fault.Conflict: as for CreateChannel.
func keepChannel(ctx context.Context, tx *db.Tx, who notify.Actor, id int64) error {
	if err := checkOwnChannels(ctx, tx, who.UserID); err != nil {
		return err
	}
	return tx.Do(ctx, "keeping who made a channel", `UPDATE notify_channels SET owner_id = $1, kept = 1 WHERE id = $2`, who.UserID, id)
}

// checkOwnChannels is fault.Conflict where a user has made as many channels that
// nothing sends to as are allowed.
func checkOwnChannels(ctx context.Context, tx *db.Tx, user int64) error {
	var n int
	err := tx.Get(ctx, "counting the channels of a user", []any{&n}, `SELECT count(*) FROM notify_channels c
		WHERE c.owner_id > 0 AND c.owner_id = $1 AND NOT `+channelUsed, user)
	if err == nil && n >= notify.MaxOwnChannels {
		err = fault.New(fault.Conflict, "You made %d channels to which nothing sends, which is the limit. Delete one first.", n)
	}
	return err
}

// SaveChannel makes the change; allow decides on the channel as it is just then. A
// save that changes nothing leaves the version, and who saved last, as they are.
// Errors: fault.NotFound, and fault.Conflict for a version that is neither 0 nor the
// present one, or where another channel has the webhook URL.
func (s *Store) SaveChannel(ctx context.Context, who notify.Actor, id int64, change notify.ChannelChange,
	allow func(*notify.ChannelInfo) error) (saved notify.ChannelInfo, err error) {
	err = s.changeRules(ctx, func(tx *db.Tx) error {
		before, err := channelForChange(ctx, tx, id, change.Version, allow)
		if err != nil {
			return err
		}
		replaced, err := s.aimElsewhere(ctx, tx, &before, &change)
		if err != nil {
			return err
		}
		if saved = before; !replaced && !differs(&before, &change.ChannelDraft) {
			return nil
		}
		if !before.Kept && stays(&change.ChannelDraft) {
			if err := keepChannel(ctx, tx, who, id); err != nil {
				return err
			}
		}
		if err := writeChannel(ctx, tx, who, id, &change.ChannelDraft); err != nil {
			return err
		}
		if err := s.rerouteChannel(ctx, tx, id); err != nil {
			return err
		}
		if saved, err = readChannelInfo(ctx, tx, id); err != nil {
			return err
		}
		return recordChannel(ctx, tx, who, "update", &before, &saved)
	})
	return saved, err
}

// channelForChange reads a channel that may be changed.
func channelForChange(
	ctx context.Context, tx *db.Tx, id, version int64, allow func(*notify.ChannelInfo) error,
) (notify.ChannelInfo, error) {
	before, err := readChannelInfo(ctx, tx, id)
	if err == nil {
		err = allow(&before)
	}
	if err == nil {
		err = staleVersion(ctx, tx, before.UnderID(), version, before.Present())
	}
	return before, err
}

func differs(before *notify.ChannelInfo, d *notify.ChannelDraft) bool {
	return d.Name != before.Named || d.Format != before.Format || d.SharedWith.String() != before.SharedWith.String()
}

// stays reports whether a channel of which people set this stays without rules and
// reports.
func stays(d *notify.ChannelDraft) bool {
	return d.Name != "" || d.Format != notify.Auto || d.SharedWith.String() != ""
}

// writeChannel writes what people set of a channel, as its next version.
func writeChannel(ctx context.Context, tx *db.Tx, who notify.Actor, id int64, d *notify.ChannelDraft) error {
	if err := tx.Do(ctx, "saving channel",
		`UPDATE notify_channels SET name = $1, format = $2, everyone = $3, version = version + 1, updated_by = $4,
			updated_at = $5, was_shared = CASE WHEN $6 THEN 1 ELSE was_shared END WHERE id = $7`,
		clean(d.Name), string(d.Format), db.Bit(d.SharedWith.Everyone), who.Name, db.Micros(tx.Now()),
		d.SharedWith.String() != "", id); err != nil {
		return err
	}
	if err := tx.Do(ctx, "sharing channel", `DELETE FROM notify_channel_shares WHERE channel_id = $1`, id); err != nil {
		return err
	}
	shares := make([][]any, len(d.SharedWith.Projects))
	for i, p := range d.SharedWith.Projects {
		shares[i] = []any{id, p.Connection, clean(p.ProjectKey), notify.Fold(clean(p.ProjectKey))}
	}
	return tx.Each(ctx, "sharing channel",
		`INSERT INTO notify_channel_shares (channel_id, connection, project_key, project_fold) VALUES ($1, $2, $3, $4)`,
		shares, nil)
}

// DeleteChannel deletes a channel to which nothing sends, and cancels what waits on
// it; its row stays for the deliveries that name it. The version and allow are as for
// SaveChannel. fault.Conflict: a rule or report sends to it.
func (s *Store) DeleteChannel(ctx context.Context, who notify.Actor, id, version int64, allow func(*notify.ChannelInfo) error) error {
	return s.changeRules(ctx, func(tx *db.Tx) error {
		before, err := channelForChange(ctx, tx, id, version, allow)
		if err != nil {
			return err
		}
		if n := len(before.Rules) + len(before.Reports); n > 0 {
			return fault.New(fault.Conflict, "Rules and reports send to this channel: %d. Choose another channel for them first.", n)
		}
		if err := tx.DoAll(ctx, "deleting channel", []string{
			`UPDATE notify_channels SET name = '', format = 'auto', kept = 0, everyone = 0, was_shared = 0, owner_id = 0,
				version = version + 1 WHERE id = $1`,
			`DELETE FROM notify_channel_shares WHERE channel_id = $1`,
			`DELETE FROM notify_channel_fingerprints WHERE channel_id = $1`,
		}, id); err != nil {
			return err
		}
		if err := s.dropUnusedURL(ctx, tx, id); err != nil {
			return err
		}
		tx.AfterCommit(func() { s.moved(id) })
		return recordChannel(ctx, tx, who, "delete", &before, nil)
	})
}

func recordChannel(ctx context.Context, tx *db.Tx, who notify.Actor, action string, before, after *notify.ChannelInfo) error {
	of := cmp.Or(after, before)
	e := who.AuditEntry(action, "channel", of.UnderID(), before.Audited(), after.Audited())
	e.ObjectName = of.Called()
	return audit.Record(ctx, tx, e)
}

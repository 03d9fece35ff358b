package store

import (
	"context"
	"strconv"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// fingerprintLength is that of every fingerprint; no id has so many digits.
const fingerprintLength = 16

// ChannelOf returns the channel with an id or a fingerprint; one of a webhook URL that
// was replaced leads to the channel that had it last, unless another one has that URL
// now. fault.NotFound: there is none, or nothing sends to it and it was never named or
// shared.
func (s *Store) ChannelOf(ctx context.Context, channel string) (info notify.ChannelInfo, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		id, err := findChannel(ctx, tx, clean(channel))
		if err == nil {
			info, err = readChannelInfo(ctx, tx, id)
		}
		if fault.Is(err, fault.NotFound) {
			return fault.New(fault.NotFound, "There is no channel %q.", channel)
		}
		return err
	})
	return info, err
}

// ChannelOfURL returns the channel that has a webhook URL now: fault.NotFound where
// there is none.
func (s *Store) ChannelOfURL(ctx context.Context, url secret.Value) (info notify.ChannelInfo, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		id, err := channelOfURL(ctx, tx, url.Reveal())
		if err == nil {
			info, err = readChannelInfo(ctx, tx, id)
		}
		return err
	})
	return info, err
}

func errNoChannel() error { return fault.New(fault.NotFound, "There is no such channel.") }

func channelOfURL(ctx context.Context, tx *db.Tx, url string) (int64, error) {
	return oneID(ctx, tx, `SELECT c.id FROM notify_channels c WHERE c.fingerprint = $1 AND `+channelThere, fingerprintURL(url))
}

// findChannel returns the id of the channel that a text names.
func findChannel(ctx context.Context, tx *db.Tx, channel string) (int64, error) {
	if len(channel) != fingerprintLength {
		id, err := strconv.ParseInt(channel, 10, 64)
		if err != nil || id <= 0 || strconv.FormatInt(id, 10) != channel {
			return 0, errNoChannel()
		}
		return id, nil
	}
	id, err := oneID(ctx, tx, `SELECT c.id FROM notify_channels c WHERE c.fingerprint = $1 AND `+channelThere, channel)
	if fault.Is(err, fault.NotFound) {
		id, err = oneID(ctx, tx, `SELECT channel_id FROM notify_channel_fingerprints WHERE fingerprint = $1`, channel)
	}
	return id, err
}

func oneID(ctx context.Context, tx *db.Tx, query string, args ...any) (id int64, err error) {
	err = tx.FindOne(ctx, "finding a channel", errNoChannel(), []any{&id}, query, args...)
	return id, err
}

// readChannelInfo reads one channel with all that waits on it counted:
// fault.NotFound where it is none for people.
func readChannelInfo(ctx context.Context, tx *db.Tx, id int64) (notify.ChannelInfo, error) {
	if _, err := oneID(ctx, tx, `SELECT c.id FROM notify_channels c WHERE c.id = $1 AND `+channelThere, id); err != nil {
		return notify.ChannelInfo{}, err
	}
	found, err := readChannelInfos(ctx, tx, []int64{id})
	if err == nil {
		err = countOnChannels(ctx, tx, found, noLimit)
	}
	if err != nil {
		return notify.ChannelInfo{}, err
	}
	return found[0], nil
}

// CheckChannelVersion returns fault.Conflict where a channel is not at a version any
// more; 0 is any version.
func (s *Store) CheckChannelVersion(ctx context.Context, now *notify.ChannelInfo, version int64) error {
	return s.db.Read(ctx, func(tx *db.Tx) error { return staleVersion(ctx, tx, now.UnderID(), version, now.Present()) })
}

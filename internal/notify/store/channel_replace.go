package store

import (
	"context"
	"net/url"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// freeURL makes way for a channel to have a webhook URL: fault.Conflict where another
// one has it. A row that is only left for deliveries gives up its fingerprint.
func freeURL(ctx context.Context, tx *db.Tx, webhookURL string, channel int64) error {
	other, err := channelOfURL(ctx, tx, webhookURL)
	switch {
	case err == nil && other != channel:
		return notify.TakenURL(other)
	case err != nil && !fault.Is(err, fault.NotFound):
		return err
	}
	if channel == 0 { // its row serves the new one
		return nil
	}
	return tx.Do(ctx, "freeing a webhook URL", `UPDATE notify_channels SET fingerprint = 'former ' || id WHERE fingerprint = $1 AND id <> $2`,
		fingerprintURL(webhookURL), channel)
}

// aimElsewhere replaces the webhook URL of a channel where a change says so, and cancels
// the waiting messages that are not to go there. It reports whether the channel changed.
func (s *Store) aimElsewhere(
	ctx context.Context, tx *db.Tx, before *notify.ChannelInfo, change *notify.ChannelChange,
) (changed bool, err error) {
	if change.URL.IsZero() {
		return false, nil
	}
	leavesOut := change.Which == notify.RetryRecent || change.Which == notify.RetryNone
	cancelled := 0
	for more := leavesOut; more; {
		found, ended, err := s.cancelOlder(ctx, tx, before.ID, leftOutUntil(tx, change.Which), leftOutOfReplacement)
		if err != nil {
			return false, err
		}
		cancelled, more = cancelled+ended, found == cancelSlice
	}
	if cancelled > 0 {
		tx.AfterCommit(func() { s.moved(before.ID) })
	}
	replaced, err := s.replaceURL(ctx, tx, before, change)
	return replaced || cancelled > 0, err
}

// replaceURL replaces the webhook URL of a channel, for all its rules and reports and
// for what waits, and says whether it was another one. What was known of the former
// one says nothing of this one.
func (s *Store) replaceURL(
	ctx context.Context, tx *db.Tx, before *notify.ChannelInfo, change *notify.ChannelChange,
) (replaced bool, err error) {
	webhookURL := change.URL.Reveal()
	u, err := url.Parse(webhookURL)
	if err != nil {
		return false, fault.InvalidField("webhookUrl", "It is not a URL.")
	}
	fingerprint := fingerprintURL(webhookURL)
	if fingerprint == before.Fingerprint { // entered again
		_, err := s.ensureChannel(ctx, tx, webhookURL)
		return false, err
	}
	if err := freeURL(ctx, tx, webhookURL, before.ID); err != nil {
		return false, err
	}
	var lastOK int64
	if change.Tested {
		lastOK = db.Micros(tx.Now())
	}
	if err := tx.Do(ctx, "replacing a webhook URL", `UPDATE notify_channels SET fingerprint = $1, url = $2, host = $3, mask = $4,
			state = 'open', reason = '', inside = '', broken_at = 0,
			gate_until = 0, gate_step = 0, gate_reason = '', gate_inside = '', rejected = 0, refused = 0, suspect = 0,
			failing_since = 0, last_ok_at = $6 WHERE id = $5`,
		fingerprint, s.box.Seal(webhookURL, "notify_channels", "url", fingerprint), u.Hostname(), secret.MaskURL(webhookURL), before.ID,
		lastOK); err != nil {
		return false, err
	}
	if err := keepFormer(ctx, tx, before, fingerprint); err != nil {
		return false, err
	}
	// As of what moves to another channel; see moveDeliveries.
	if err := tx.Do(ctx, "having what waits try the new webhook URL",
		`UPDATE notify_deliveries SET errors_5xx = 0, due_at = 0, beside = 0, batch = 0
		WHERE channel_id = $1 AND finished_at = 0 AND (errors_5xx > 0 OR due_at > 0 OR beside > 0 OR batch > 0)`, before.ID); err != nil {
		return false, err
	}
	tx.AfterCommit(func() { s.moved(before.ID) })
	return true, nil
}

// keepFormer has the fingerprint that a channel had lead to it on.
func keepFormer(ctx context.Context, tx *db.Tx, before *notify.ChannelInfo, present string) error {
	if err := tx.Do(ctx, "keeping a former fingerprint",
		`DELETE FROM notify_channel_fingerprints WHERE fingerprint = $1`, present); err != nil {
		return err
	}
	return tx.Do(ctx, "keeping a former fingerprint",
		`INSERT INTO notify_channel_fingerprints (fingerprint, channel_id, replaced_at) VALUES ($1, $2, $3)
		ON CONFLICT (fingerprint) DO UPDATE SET channel_id = excluded.channel_id, replaced_at = excluded.replaced_at`,
		before.Fingerprint, before.ID, db.Micros(tx.Now()))
}

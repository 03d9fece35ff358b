package store

import (
	"context"
	"net/url"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// aim is where a rule or report that is saved sends.
type aim struct {
	channel *int64 // the one that was chosen, where it is not 0
	had     int64  // the one that it had; 0: it is new
	name    *string
	format  *notify.Format
	choice  *notify.ChannelChoice
	who     notify.Actor
}

// aimAt finds or makes the channel of a rule or report that is saved: that of a whole
// webhook URL, else the one that was chosen, else the one that it had.
func (s *Store) aimAt(ctx context.Context, tx *db.Tx, to aim, webhookURL string) error {
	if webhookURL == "" || secret.IsMask(webhookURL) {
		switch *to.channel {
		case 0:
			*to.channel = to.had
		case to.had:
		default:
			return checkChosen(ctx, tx, *to.channel)
		}
		return nil
	}
	made, named := false, to.choice != nil && (to.choice.Name != "" || to.choice.Format != "")
	if named {
		_, err := channelOfURL(ctx, tx, webhookURL)
		if made = fault.Is(err, fault.NotFound); err != nil && !made {
			return err
		}
	}
	id, err := s.ensureChannel(ctx, tx, webhookURL)
	if *to.channel = id; err != nil || !named {
		return err
	}
	if !made {
		return to.keepOwn(ctx, tx)
	}
	format := to.choice.Format.Else(notify.Auto)
	if err := tx.Do(ctx, "naming a new channel",
		`UPDATE notify_channels SET name = $1, format = $2 WHERE id = $3`, clean(to.choice.Name), string(format), id); err != nil {
		return err
	}
	if to.choice.Name == "" {
		return nil
	}
	return keepChannel(ctx, tx, to.who, id)
}

// keepOwn has a rule or report that was to make its channel, and found it, call it as
// it wanted to, in its own format: other rules and reports send there.
func (to *aim) keepOwn(ctx context.Context, tx *db.Tx) error {
	var name, format string
	if err := tx.Get(ctx, "reading what a channel is called", []any{&name, &format},
		`SELECT name, format FROM notify_channels WHERE id = $1`, *to.channel); err != nil {
		return err
	}
	if to.choice.Name != name {
		*to.name = to.choice.Name
	}
	if own := to.choice.Format.Else(notify.Auto); own != notify.Format(format) {
		*to.format = own
	}
	return nil
}

// checkChosen is fault.Invalid where a channel that was chosen has no webhook URL: it
// was deleted meanwhile, or its URL was lost.
func checkChosen(ctx context.Context, tx *db.Tx, id int64) error {
	none := fault.InvalidField("channel", "This channel was deleted. Choose another one, or enter its webhook URL.")
	return tx.FindOne(ctx, "finding the chosen channel", none, []any{&id}, `SELECT id FROM notify_channels WHERE id = $1 AND LENGTH(url) > 0`,
		id)
}

// ensureChannel returns the id of the URL's channel. Entering a URL again opens
// a broken channel again, and makes good that it was lost.
func (s *Store) ensureChannel(ctx context.Context, tx *db.Tx, webhookURL string) (int64, error) {
	u, err := url.Parse(webhookURL)
	if err != nil {
		return 0, fault.InvalidField("webhookUrl", "It is not a URL.")
	}
	fingerprint := fingerprintURL(webhookURL)
	sealed := s.box.Seal(webhookURL, "notify_channels", "url", fingerprint)
	var id int64
	if err := tx.Do(ctx, "forgetting that a webhook URL was lost",
		`UPDATE notify_channels SET reason = '', gate_reason = '', inside = '', gate_inside = ''
		WHERE fingerprint = $1 AND LENGTH(url) = 0`, fingerprint); err != nil {
		return 0, err
	}
	if err := tx.Do(ctx, "inserting channel", `INSERT INTO notify_channels (fingerprint, url, host, mask, state, reason, broken_at, gate_until,
			gate_step, gate_reason, rejected, refused, suspect, failing_since, last_ok_at, created_at)
		VALUES ($1, $2, $3, $4, 'open', '', 0, 0, 0, '', 0, 0, 0, 0, 0, $5) ON CONFLICT (fingerprint) DO UPDATE SET url = excluded.url`,
		fingerprint, sealed, u.Hostname(), secret.MaskURL(webhookURL), db.Micros(tx.Now())); err != nil {
		return 0, err
	}
	var closed bool
	if err := tx.Get(ctx, "finding channel", []any{&id, &closed}, `SELECT id, CASE WHEN state = 'broken' OR gate_until > 0 THEN 1 ELSE 0 END
		FROM notify_channels WHERE fingerprint = $1`, fingerprint); err != nil || !closed {
		return id, err
	}
	return id, s.openChannel(ctx, tx, id)
}

// dropUnusedURL drops the URL of a channel that no rule or report uses any more and
// that does not stay without, and cancels what waits for the channel itself; its row stays for the deliveries that name
// it.
func (s *Store) dropUnusedURL(ctx context.Context, tx *db.Tx, channel int64) error {
	unused, err := tx.Changed(ctx, "dropping an unused webhook URL", `UPDATE notify_channels SET url = $1 WHERE id = $2 AND kept = 0
		AND NOT EXISTS (SELECT 1 FROM notify_rules r WHERE r.channel_id = notify_channels.id)
		AND NOT EXISTS (SELECT 1 FROM notify_reports r WHERE r.channel_id = notify_channels.id)`, []byte{}, channel)
	if err != nil || unused == 0 {
		return err
	}
	ids, err := readIDs(ctx, tx, `SELECT id FROM notify_deliveries WHERE channel_id = $1 AND finished_at = 0 AND to_channel = 1`, channel)
	if err == nil {
		_, err = s.end(ctx, tx, ids, notify.Cancelled, notify.UnusedReason)
	}
	return err
}

package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// Channel returns a channel and its webhook URL, which is empty where no rule
// uses the channel any more: fault.NotFound when there is none with the id.
func (s *Store) Channel(ctx context.Context, id int64) (notify.Channel, secret.Value, error) {
	var c notify.Channel
	var url secret.Value
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		c, url, err = s.readChannel(ctx, tx, id)
		return err
	})
	return c, url, err
}

func (s *Store) readChannel(ctx context.Context, tx *db.Tx, id int64) (c notify.Channel, url secret.Value, err error) {
	var sealed []byte
	found, err := tx.Find(ctx, "reading channel", append(channelInto(&c), &sealed),
		`SELECT `+channelColumns+`, c.url FROM notify_channels c WHERE c.id = $1`, id)
	if err == nil && !found {
		err = fault.New(fault.NotFound, "There is no channel with id %d.", id)
	}
	if err != nil || len(sealed) == 0 { // no rule uses it any more, and nothing is sent
		return c, url, err
	}
	plain, err := s.box.Unseal(sealed, "notify_channels", "url", c.Fingerprint)
	return c, secret.New(plain), err
}

// channelsOf returns the channels of deliveries by id.
func channelsOf(ctx context.Context, tx *db.Tx, deliveries []*notify.Delivery) (map[int64]notify.Channel, error) {
	found := make(map[int64]notify.Channel)
	for _, d := range deliveries {
		found[d.ChannelID] = notify.Channel{}
	}
	return found, tx.EachRow(ctx, "reading the channels of deliveries", func(row db.Row) error {
		var c notify.Channel
		err := row.Scan(channelInto(&c)...)
		found[c.ID] = c
		return err
	}, `SELECT `+channelColumns+` FROM notify_channels c WHERE c.id IN (`+list(slices.Collect(maps.Keys(found)))+`)`)
}

func updateChannel(ctx context.Context, tx *db.Tx, c *notify.Channel) error {
	return tx.Do(ctx, "updating channel", `UPDATE notify_channels SET state = $1, reason = $2, broken_at = $3, gate_until = $4, gate_step = $5,
			gate_reason = $6, rejected = $7, refused = $8, suspect = $9, failing_since = $10, last_ok_at = $11,
			inside = $13, gate_inside = $14 WHERE id = $12`,
		string(c.State), clean(c.Reason), db.Micros(c.BrokenAt), db.Micros(c.GateUntil), c.GateStep,
		clean(c.GateReason), c.Rejected, c.Refused, c.Suspect, db.Micros(c.FailingSince), db.Micros(c.LastOKAt), c.ID,
		clean(c.Inside), clean(c.GateInside))
}

// RecordTest puts a test message into the audit trail: to which webhook URL, masked,
// of which rule or channel, and where that belongs. fault.RateLimited: the user has
// sent notify.TestsAMinute within a minute, on all nodes together.
func (s *Store) RecordTest(ctx context.Context, who notify.Actor, object, id string, at identity.Resource, mask string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := fewTests(ctx, tx, who); err != nil {
			return err
		}
		e := who.AuditEntry("test", object, id, nil, map[string]string{"webhookUrl": mask})
		e.Connection, e.Project, e.Repository = at.Connection, at.Project, at.Repository
		var err error
		if e.ObjectName, err = nameOfTested(ctx, tx, object, id); err != nil {
			return err
		}
		return audit.Record(ctx, tx, e)
	})
}

// fewTests is fault.RateLimited where the user has sent as many test messages
// within a minute as are allowed, on all nodes together: the audit trail has each.
func fewTests(ctx context.Context, tx *db.Tx, who notify.Actor) error {
	if tx.Dialect() == db.Postgres { // one at a time, also of those that other nodes send
		if err := tx.Do(ctx, "locking test messages",
			`SELECT pg_advisory_xact_lock(hashtextextended($1, $2))`, "test "+who.Source+" "+who.Name, generationLock); err != nil {
			return err
		}
	}
	var sent int
	var first sql.NullInt64
	err := tx.Get(ctx, "counting test messages", []any{&sent, &first}, `SELECT COUNT(*), MIN(at) FROM audit_entries
		WHERE at > $1 AND area = 'notifications' AND action = 'test' AND who = $2 AND source = $3`,
		db.Micros(tx.Now().Add(-time.Minute)), who.Name, who.Source)
	if err == nil && sent >= notify.TestsAMinute {
		err = notify.TooManyTests(db.Time(first.Int64).Add(time.Minute).Sub(tx.Now()))
	}
	return err
}

// nameOfTested is what people call the rule or channel that a test message was
// of; "" for one that is not saved.
func nameOfTested(ctx context.Context, tx *db.Tx, object, id string) (string, error) {
	switch {
	case id == "":
		return "", nil
	case object != "channel" && object != "rule":
		return "", nil
	}
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return "", fmt.Errorf("the id of a %s: %w", object, err)
	}
	if object == "channel" {
		return channelName(ctx, tx, number)
	}
	return readName(ctx, tx, `SELECT name FROM notify_rules WHERE id = $1`, number)
}

// channelName is what the channel is called, else what its rules call it; "" where
// neither has a name.
func channelName(ctx context.Context, tx *db.Tx, id int64) (string, error) {
	name, err := readName(ctx, tx, `SELECT name FROM notify_channels WHERE id = $1`, id)
	if err != nil || name != "" {
		return name, err
	}
	return readName(ctx, tx, `SELECT channel_name FROM notify_rules WHERE channel_id = $1 AND channel_name <> '' ORDER BY name, id LIMIT 1`,
		id)
}

func readName(ctx context.Context, tx *db.Tx, query string, of any) (name string, err error) {
	_, err = tx.Find(ctx, "reading a name", []any{&name}, query, of)
	return name, err
}

// Pending returns the channels of the shards on which something waits.
func (s *Store) Pending(ctx context.Context, shards []int) ([]notify.Pending, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	return db.Read(ctx, s.db, func(tx *db.Tx) ([]notify.Pending, error) {
		return db.List(ctx, tx, "reading pending channels", func(row db.Row) (p notify.Pending, err error) {
			err = row.Scan(&p.ChannelID, db.At(&p.GateUntil), &p.Queued, &p.Released)
			return p, err
		}, `SELECT c.id, c.gate_until,
			EXISTS (SELECT 1 FROM notify_deliveries d WHERE d.channel_id = c.id AND d.finished_at = 0 AND d.due_at <= $1 AND d.held_until <= $1),
			EXISTS (SELECT 1 FROM notify_deliveries d WHERE d.channel_id = c.id AND d.finished_at = 0 AND d.held_until > 0 AND d.held_until <= $1)
			FROM notify_channels c
			WHERE `+inShards("c.id", shards)+`
			AND EXISTS (SELECT 1 FROM notify_deliveries d WHERE d.channel_id = c.id AND d.finished_at = 0 AND d.held_until <= $1)`,
			db.Micros(tx.Now()))
	})
}

// fingerprintURL names a webhook URL without saying it: webhook URLs carry
// at least 128 bits of signature, so a plain hash gives nothing away.
func fingerprintURL(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:8])
}

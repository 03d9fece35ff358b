package store

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// The last webhook of a body has its fingerprint as it is. To those before it,
// which may be named again by their request ids, something is appended: the
// higher their row's id the less, so that they follow with the newest first.

// mostTries is how often a row is inserted: once more each time that another
// node has just inserted the same body under other names.
const mostTries = 10

// insertAgain inserts the first row of a webhook that was not inserted, unless it
// repeats one that was there before; then it is marked Duplicate.
func insertAgain(ctx context.Context, tx *db.Tx, e *eventRow) error {
	for tries := 0; e.id == 0; tries++ {
		if tries == mostTries {
			return fault.New(fault.Unavailable, "The same webhook is being saved by other nodes. Try again in a moment.")
		}
		repeated, last, err := findSeen(ctx, tx, e.receipt)
		if err != nil {
			return err
		}
		if repeated != 0 {
			e.receipt.Duplicate, e.receipt.DuplicateOf = true, repeated
			return nil
		}
		if err := yieldFingerprint(ctx, tx, e.receipt, last); err != nil {
			return err
		}
		if err := insertEventRows(ctx, tx, []*eventRow{e}); err != nil {
			return err
		}
	}
	return nil
}

// mostSeen is how many webhooks of one body are looked at: no platform sends that
// many, and a sender that does must not hold up others.
const mostSeen = 100

// findSeen returns the row that a webhook repeats, and that of the last with the
// same body; 0: there is none.
func findSeen(ctx context.Context, tx *db.Tx, r *notify.Receipt) (repeated, last int64, err error) {
	own := r.Fingerprint()
	err = tx.EachRow(ctx, "finding the same body", func(row db.Row) error {
		var e notify.LoggedEvent
		var seen notify.Seen
		var fingerprint []byte
		err := row.Scan(&e.ID, &fingerprint, &seen.Key, &seen.RequestID, db.At(&seen.ReceivedAt), &e.Outcome, &e.Reason)
		if len(fingerprint) == len(own) {
			last = e.ID
		}
		seen.Withheld = e.Withheld()
		if err == nil && repeated == 0 && r.Repeats(seen) {
			repeated = e.ID
		}
		return err
	}, `SELECT id, fingerprint, event_key, coalesce(request_id, ''), received_at, outcome, reason FROM notify_events
		WHERE fingerprint >= $1 AND fingerprint <= $2 ORDER BY fingerprint LIMIT $3`,
		own, withSuffix(own, math.MaxInt64), mostSeen)
	return repeated, last, err
}

// yieldFingerprint has the row of the last webhook of a body make way for a new
// one.
func yieldFingerprint(ctx context.Context, tx *db.Tx, r *notify.Receipt, last int64) error {
	own := r.Fingerprint()
	return tx.Do(ctx, "changing an old fingerprint", `UPDATE notify_events SET fingerprint = $1 WHERE id = $2 AND fingerprint = $3`,
		withSuffix(own, math.MaxInt64-last), last, own)
}

func withSuffix(fingerprint []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(slices.Clone(fingerprint), uint64(n))
}

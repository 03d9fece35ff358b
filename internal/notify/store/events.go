package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// Accept matches the events of a webhook and keeps them with their deliveries
// in one commit. When it returns nil they are durable. A webhook that was
// there before is left alone and marked Duplicate.
//
// Errors: fault.Forbidden for what is outside the scope of its hook,
// fault.NotFound where that hook is gone, fault.Unavailable where ctx ends
// before the database has committed.
func (s *Store) Accept(ctx context.Context, r *notify.Receipt) error {
	r.Key, r.RequestID, r.Reason = clean(r.Key), clean(r.RequestID), clean(r.Reason)
	r.Match(s.Rules())
	if r.Refusal != nil { // unless another node has changed the hook
		if err := s.Renew(ctx); err != nil {
			return err
		}
		if r.Match(s.Rules()); r.Refusal != nil {
			return r.Refusal
		}
	}
	buf := encodings.Get().(*bytes.Buffer)
	if err := encode(r, buf); err != nil {
		return err
	}
	settled, err := s.events.DoUntil(ctx, r)
	if settled != nil { // buf is still the batch's
		r.Undecided = settled
		return err
	}
	if buf.Cap() <= maxPooled {
		encodings.Put(buf)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return db.ErrUndecided
	}
	if err == nil {
		err = r.Refusal
	}
	return err
}

// clean makes text from outside fit for both databases.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// encodings holds the events of a webhook while they wait for their commit.
var encodings = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is how big a buffer may be to be kept: one push of many events
// must not stay in memory for ever.
const maxPooled = 64 << 10

// encode writes the events into buf, which belongs to the receipt until it is
// committed.
func encode(r *notify.Receipt, buf *bytes.Buffer) error {
	buf.Reset()
	r.Encoded = make([][]byte, len(r.Kept))
	for i := range r.Kept {
		begin := buf.Len()
		if err := jsonv2.MarshalWrite(buf, &r.Kept[i], eventOptions); err != nil {
			return fmt.Errorf("encoding event: %w", err)
		}
		r.Encoded[i] = buf.Bytes()[begin:] // stays as it is where buf moves on
	}
	return nil
}

func encodeEvent(e *notify.Event) ([]byte, error) {
	encoded, err := jsonv2.Marshal(e, eventOptions)
	if err != nil {
		return nil, fmt.Errorf("encoding event: %w", err)
	}
	return encoded, nil
}

// eventOptions read the struct tags as encoding/json does.
var eventOptions = jsonv2.JoinOptions(jsonv1.OmitEmptyWithLegacySemantics(true), jsontext.AllowInvalidUTF8(true))

// writeReceipts is the hot write of webhooks: all of items in one
// transaction.
func (s *Store) writeReceipts(ctx context.Context, tx *db.Tx, items []*notify.Receipt) error {
	if err := s.rematchStale(ctx, tx, items); err != nil {
		return err
	}
	for _, r := range items {
		r.EventID, r.Duplicate, r.DuplicateOf = 0, false, 0
	}
	if err := settleBuilds(ctx, tx, items); err != nil {
		return err
	}
	tracked, err := s.settleTracked(ctx, tx, items)
	if err != nil {
		return err
	}
	if err := numberDeliveries(ctx, tx, items); err != nil {
		return err
	}
	rows := make([]*eventRow, 0, len(items))
	for _, r := range items {
		if r.Written() {
			rows = appendRows(rows, r)
		}
	}
	if err := insertEvents(ctx, tx, rows); err != nil {
		return err
	}
	if err := tracked.write(ctx, tx); err != nil { // before what it writes moves
		return err
	}
	if err := s.applyRenames(ctx, tx, items); err != nil {
		return err
	}
	if err := nameCommits(ctx, tx, items); err != nil {
		return err
	}
	var deliveries []*notify.Delivery
	for _, r := range items {
		if r.Written() {
			deliveries = append(deliveries, r.Deliveries...)
		}
	}
	if len(deliveries) == 0 {
		return nil
	}
	if err := insertDeliveries(ctx, tx, deliveries); err != nil {
		return err
	}
	tx.AfterCommit(func() {
		s.counts.match(len(deliveries) - countDeciding(deliveries))
		s.enqueued(deliveries)
	})
	return nil
}

// rematchStale matches again what was matched against rules that have been
// saved over meanwhile.
func (s *Store) rematchStale(ctx context.Context, tx *db.Tx, items []*notify.Receipt) error {
	// Who renames changes rules. Two that shared the lock first would wait for
	// each other.
	lock := shareGeneration
	if slices.ContainsFunc(items, (*notify.Receipt).HasKeyChange) {
		lock = lockGeneration
	}
	if err := lock(ctx, tx); err != nil {
		return err
	}
	now, err := s.load(ctx, tx)
	if err != nil {
		return err
	}
	tx.AfterCommit(func() { s.swapRules(now) })
	for _, r := range items {
		if r.Generation == now.Generation {
			continue
		}
		r.Match(now)
		if r.GroupsRefs() && r.Refusal == nil { // they are gathered by rules
			if err := encode(r, new(bytes.Buffer)); err != nil {
				return err
			}
		}
	}
	return nil
}

// eventRow is one row of notify_events.
type eventRow struct {
	receipt  *notify.Receipt
	index    int           // of the event; 0 carries the webhook's identity
	of       *notify.Event // nil: there is none
	id       int64         // 0: it is not there
	reserved int64         // the id that it gets if it is new
	rules    int
	needed   int   // deliveries
	delivery int64 // the first of them; 0: none
	event    []byte
}

func appendRows(rows []*eventRow, r *notify.Receipt) []*eventRow {
	if len(r.Kept) == 0 {
		return append(rows, &eventRow{receipt: r})
	}
	for i := range r.Kept {
		e := &r.Kept[i]
		needed, first := 0, int64(0)
		for _, d := range r.Deliveries {
			if d.Event != e {
				continue
			}
			if needed++; first == 0 {
				first = d.ID
			}
		}
		rows = append(rows, &eventRow{
			needed: needed, delivery: first, receipt: r, index: i, of: e, rules: countTaken(r.Matched[i]), event: r.Encoded[i],
		})
	}
	return rows
}

// countTaken counts the rules that are known to take an event.
func countTaken(matches []notify.Match) (n int) {
	for i := range matches {
		if matches[i].Open == 0 {
			n++
		}
	}
	return n
}

// insertEvents writes the rows of new webhooks, marks the receipts of those
// that were there before, and points deliveries to their rows.
func insertEvents(ctx context.Context, tx *db.Tx, rows []*eventRow) error {
	var first, rest []*eventRow
	for _, e := range rows {
		if e.index == 0 {
			first = append(first, e)
		} else {
			rest = append(rest, e)
		}
	}
	if err := insertEventRows(ctx, tx, first); err != nil {
		return err
	}
	for _, e := range first {
		if err := insertAgain(ctx, tx, e); err != nil {
			return err
		}
	}
	fresh := rest[:0]
	for _, e := range rest {
		if !e.receipt.Duplicate {
			fresh = append(fresh, e)
		}
	}
	if err := insertEventRows(ctx, tx, fresh); err != nil {
		return err
	}
	for _, e := range rows {
		if e.index == 0 {
			e.receipt.EventID = e.id // 0: of a duplicate
		}
		for _, d := range e.receipt.Deliveries {
			if d.Event != nil && d.Event == e.of {
				d.EventID = e.id
			}
		}
	}
	return nil
}

package notify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// Outcome says what became of a webhook.
type Outcome string

const (
	Understood Outcome = "understood"     // it held at least one event
	Silent     Outcome = "silent"         // understood, and nothing anybody is told of
	UnknownKey Outcome = "unknown"        // an event key that this program does not know
	Unreadable Outcome = "not_understood" // kept with its body
)

// Receipt is one verified webhook on its way into the store.
type Receipt struct {
	Connection string
	Hook       string // the name of the one it came in by; "" is the connection's own
	HookID     int64  // of the hook that verified it
	Key        string
	RequestID  string // empty: none was given
	Address    string // of the sender, for the audit trail
	AnswerID   string // the id of our answer, likewise
	ReceivedAt time.Time
	Outcome    Outcome
	Reason     string
	Events     []Event
	Digest     []byte // of the body, the same for the same body
	Body       []byte // kept where it is Unreadable

	// Set by Accept: Duplicate where it was there before, so that nothing was
	// written; Undecided where the database did not answer in time, so that it
	// may be committed yet. Until that is closed the receipt, Body included, must
	// be left alone.
	Duplicate bool
	Undecided <-chan struct{}

	hook        *Hook
	refusal     error // it may not be taken
	withheld    bool  // it is kept, and delivered to nobody
	fingerprint []byte
	kept        []Event  // what is stored: Events, or what many of them were gathered to
	encoded     [][]byte // of kept
	generation  int64
	matched     [][]*Rule
	deliveries  []*Delivery
}

// sameBodyWithin is how long the same event key and body count as the same
// webhook: a project's hook and a repository's hook send one event under two
// request ids within seconds.
const sameBodyWithin = 10 * time.Minute

// Accept matches the events of a webhook and keeps them with their deliveries
// in one commit. When it returns nil they are durable. A webhook that was
// there before is left alone and marked Duplicate.
//
// Errors: fault.Forbidden for what is outside the scope of its hook,
// fault.NotFound where that hook is gone, fault.Unavailable where ctx ends
// before the database has committed.
func (s *Store) Accept(ctx context.Context, r *Receipt) error {
	r.Key, r.RequestID, r.Reason = clean(r.Key), clean(r.RequestID), clean(r.Reason)
	r.match(s.Rules())
	if r.refusal != nil { // unless another node has changed the hook
		if err := s.Renew(ctx); err != nil {
			return err
		}
		if r.match(s.Rules()); r.refusal != nil {
			return r.refusal
		}
	}
	buf := encodings.Get().(*bytes.Buffer)
	if err := r.encode(buf); err != nil {
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
		err = r.refusal
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
func (r *Receipt) encode(buf *bytes.Buffer) error {
	buf.Reset()
	ends := make([]int, len(r.kept))
	for i := range r.kept {
		if err := jsonv2.MarshalWrite(buf, &r.kept[i], eventOptions); err != nil {
			return fmt.Errorf("encode event: %w", err)
		}
		ends[i] = buf.Len()
	}
	begin, all := 0, buf.Bytes()
	r.encoded = make([][]byte, len(ends))
	for i, end := range ends {
		r.encoded[i], begin = all[begin:end], end
	}
	return nil
}

// eventOptions read the struct tags as encoding/json does.
var eventOptions = jsonv2.JoinOptions(jsonv1.OmitEmptyWithLegacySemantics(true), jsontext.AllowInvalidUTF8(true))

// match judges the webhook by its hook, finds the rules of its events and plans
// the deliveries.
func (r *Receipt) match(rules *RuleSet) {
	r.generation = rules.Generation
	r.matched = r.matched[:0]
	r.deliveries = r.deliveries[:0]
	if r.judge(rules.Platforms); r.refusal != nil {
		return
	}
	if r.gathers() {
		r.gather(rules)
	} else {
		r.matchEach(rules)
	}
	r.plan(rules.Generation)
}

// matchEach finds the rules of every event by itself.
func (r *Receipt) matchEach(rules *RuleSet) {
	r.kept = r.Events
	for i := range r.Events {
		e := &r.Events[i]
		var matched []*Rule
		if !r.withheld {
			matched = rules.Match(e, nil)
			if by, ok := e.renamed(); ok && r.hook.Scope.Holds(Scope(by.from)) {
				matched = rules.matchOld(e, by, matched)
			}
		}
		r.matched = append(r.matched, matched)
	}
}

// plan makes one delivery of each event a channel.
func (r *Receipt) plan(generation int64) {
	for i, matched := range r.matched {
		first := len(r.deliveries)
	rules:
		for _, rule := range matched {
			for _, d := range r.deliveries[first:] {
				if d.ChannelID == rule.ChannelID {
					d.Rules = append(d.Rules, rule.ID)
					continue rules
				}
			}
			r.deliveries = append(r.deliveries, &Delivery{
				EventID: int64(i), ChannelID: rule.ChannelID, Format: rule.Format,
				Rules: []int64{rule.ID}, State: Waiting, Event: &r.kept[i], Generation: generation,
			})
		}
	}
}

// judge holds the events to the scope of the hook, as it is now: it may have
// been deleted or moved since it verified them.
func (r *Receipt) judge(p *Platforms) {
	r.refusal, r.withheld, r.fingerprint = nil, false, nil
	if r.hook, _ = p.Hook(r.Connection, r.Hook); r.hook == nil || r.hook.ID != r.HookID {
		r.refusal = fault.New(fault.NotFound, "The connection %q has no hook %q.", r.Connection, r.Hook)
		return
	}
	for i := range r.Events {
		e := &r.Events[i]
		switch r.hook.judge(e) {
		case outside:
			r.refusal = fault.New(fault.Forbidden, "This hook is for %s; %s needs a hook of its own.", r.hook.Scope, Scope{e.Project.Key, e.Repository.Key})
			return
		case withheld:
			r.withheld = true
		}
	}
	// What is withheld must not keep the same from coming in by a wider hook.
	if !r.withheld {
		sum := sha256.Sum256([]byte(r.Connection + "\x00" + r.Key + "\x00" + string(r.Digest)))
		r.fingerprint = sum[:16]
	}
}

// written tells whether the webhook is new, and taken.
func (r *Receipt) written() bool { return !r.Duplicate && r.refusal == nil }

// writeReceipts is the hot write of webhooks: all of items in one
// transaction.
func (s *Store) writeReceipts(ctx context.Context, tx *db.Tx, items []*Receipt) error {
	if err := s.rematchStale(ctx, tx, items); err != nil {
		return err
	}
	rows := make([]*eventRow, 0, len(items))
	for _, r := range items {
		r.Duplicate = false
		if r.refusal == nil {
			rows = append(rows, r.rows()...)
		}
	}
	if err := insertEvents(ctx, tx, rows); err != nil {
		return err
	}
	if err := s.follow(ctx, tx, items); err != nil {
		return err
	}
	var deliveries []*Delivery
	for _, r := range items {
		if r.written() {
			deliveries = append(deliveries, r.deliveries...)
		}
	}
	if len(deliveries) == 0 {
		return nil
	}
	if err := insertDeliveries(ctx, tx, deliveries); err != nil {
		return err
	}
	tx.AfterCommit(func() {
		s.counts.match(len(deliveries))
		s.enqueued(deliveries)
	})
	return nil
}

// rematchStale matches again what was matched against rules that have been
// saved over meanwhile.
func (s *Store) rematchStale(ctx context.Context, tx *db.Tx, items []*Receipt) error {
	if tx.Dialect() == db.Postgres {
		// Who renames changes rules. Two that shared the lock first would wait
		// for each other.
		lock := `SELECT pg_advisory_xact_lock_shared($1)`
		if slices.ContainsFunc(items, (*Receipt).renames) {
			lock = `SELECT pg_advisory_xact_lock($1)`
		}
		if _, err := tx.Exec(ctx, lock, generationLock); err != nil {
			return fmt.Errorf("share generation: %w", err)
		}
	}
	now, err := s.load(ctx, tx)
	if err != nil {
		return err
	}
	tx.AfterCommit(func() { s.hold(now) })
	for _, r := range items {
		if r.generation == now.Generation {
			continue
		}
		r.match(now)
		if r.gathers() && r.refusal == nil { // they are gathered by rules
			if err := r.encode(new(bytes.Buffer)); err != nil {
				return err
			}
		}
	}
	return nil
}

// eventRow is one row of notify_events.
type eventRow struct {
	receipt    *Receipt
	index      int // of the event; 0 carries the webhook's identity
	id         int64
	project    string
	repository string
	rules      int
	needed     int // deliveries
	event      []byte
	body       []byte
}

func (r *Receipt) rows() []*eventRow {
	if len(r.kept) == 0 {
		return []*eventRow{{receipt: r, body: r.Body}}
	}
	rows := make([]*eventRow, len(r.kept))
	for i := range r.kept {
		e := &r.kept[i]
		needed := 0
		for _, d := range r.deliveries {
			if d.Event == e {
				needed++
			}
		}
		rows[i] = &eventRow{
			needed: needed, receipt: r, index: i, project: e.Project.Key, repository: e.Repository.Key,
			rules: len(r.matched[i]), event: r.encoded[i],
		}
	}
	return rows
}

// identity of the webhook: on its first row only, since both are unique.
func (e *eventRow) identity() (requestID *string, fingerprint []byte) {
	if e.index > 0 {
		return nil, nil
	}
	if e.receipt.RequestID != "" {
		requestID = &e.receipt.RequestID
	}
	return requestID, e.receipt.fingerprint
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
		if e.id != 0 {
			continue
		}
		if err := retryOldFingerprint(ctx, tx, e); err != nil {
			return err
		}
		e.receipt.Duplicate = e.id == 0
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
		for _, d := range e.receipt.deliveries {
			if d.Event != nil && d.Event == e.of() {
				d.EventID = e.id
			}
		}
	}
	return nil
}

func (e *eventRow) of() *Event {
	if e.index < len(e.receipt.kept) {
		return &e.receipt.kept[e.index]
	}
	return nil
}

// retryOldFingerprint inserts a row again whose body was seen before, but too
// long ago to count as the same webhook.
func retryOldFingerprint(ctx context.Context, tx *db.Tx, e *eventRow) error {
	if e.receipt.fingerprint == nil { // it is the request id that was seen before
		return nil
	}
	since := e.receipt.ReceivedAt.Add(-sameBodyWithin)
	n, err := tx.Exec(ctx,
		`UPDATE notify_events SET fingerprint = NULL WHERE fingerprint = $1 AND received_at < $2`,
		e.receipt.fingerprint, db.Micros(since))
	if err != nil {
		return fmt.Errorf("forget old fingerprint: %w", err)
	}
	if n == 0 {
		return nil
	}
	return insertEventRows(ctx, tx, []*eventRow{e})
}

package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"outrigger/internal/db"
	"outrigger/internal/notify"
	"outrigger/internal/work"
)

const deliveryColumns = `d.id, d.event_id, d.channel_id, d.format, d.rules, d.state, d.reason, d.inside, d.note, d.attempts, d.errors_5xx,
	d.created_at, d.queued_at, d.due_at, d.beside, d.batch, d.held_until, d.finished_at, d.to_channel, d.took, d.status, d.answer, d.public`

const deliverySelect = `SELECT ` + deliveryColumns + `, e.event FROM notify_deliveries d LEFT JOIN notify_events e ON e.id = d.event_id`

// NextDeliveries returns the oldest deliveries that wait on a channel, in their
// order, but for those that quiet hours hold.
func (s *Store) NextDeliveries(ctx context.Context, channelID int64, limit int) ([]*notify.Delivery, error) {
	return s.readQueued(ctx, func(tx *db.Tx) ([]*notify.Delivery, error) {
		return readDeliveries(ctx, tx, deliverySelect+
			` WHERE d.channel_id = $1 AND d.finished_at = 0 AND d.due_at = 0 AND d.held_until <= $2 ORDER BY d.id LIMIT $3`,
			channelID, db.Micros(tx.Now()), limit)
	})
}

// readQueued reads deliveries that are to be sent by the rules that this node has now.
func (s *Store) readQueued(ctx context.Context, read func(tx *db.Tx) ([]*notify.Delivery, error)) ([]*notify.Delivery, error) {
	generation := s.Rules().Generation
	out, err := db.Read(ctx, s.db, read)
	for _, d := range out {
		d.Generation = generation
	}
	return out, err
}

// Waits reports whether a delivery still waits on the channel where it was read, and
// that still has the webhook URL with a fingerprint.
func (s *Store) Waits(ctx context.Context, d *notify.Delivery, fingerprint string) (bool, error) {
	var id int64
	return s.db.Find(ctx, "finding a waiting delivery", []any{&id}, `SELECT d.id FROM notify_deliveries d
		JOIN notify_channels c ON c.id = d.channel_id
		WHERE d.id = $1 AND d.channel_id = $2 AND d.finished_at = 0 AND c.fingerprint = $3`, d.ID, d.ChannelID, fingerprint)
}

// maxAside bounds how many deliveries are tried beside a channel's queue at a
// time. Each was refused alone; so many are no longer the exception.
const maxAside = 100

// Aside returns the deliveries of a channel that were set aside, the first to be
// tried first.
func (s *Store) Aside(ctx context.Context, channelID int64) ([]*notify.Delivery, error) {
	return s.readQueued(ctx, func(tx *db.Tx) ([]*notify.Delivery, error) {
		return readDeliveries(ctx, tx, deliverySelect+
			` WHERE d.channel_id = $1 AND d.due_at > 0 AND d.finished_at = 0 ORDER BY d.due_at, d.id LIMIT $2`, channelID, maxAside)
	})
}

// ListDeliveries returns the newest deliveries that f lets through.
func (s *Store) ListDeliveries(ctx context.Context, f notify.DeliveryFilter) ([]*notify.Delivery, error) {
	var out []*notify.Delivery
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		return eachCondition(&f, func(condition string, arg int64) error {
			more, err := readFiltered(ctx, tx, &f, condition, arg)
			out = append(out, more...)
			return err
		})
	})
	slices.SortFunc(out, func(a, b *notify.Delivery) int { return cmp.Compare(b.ID, a.ID) })
	return out[:min(len(out), f.Limit)], err
}

// eachCondition calls do with the condition of the filter's rule: with two, since
// the first rule of a delivery stands in the delivery, and the others elsewhere.
func eachCondition(f *notify.DeliveryFilter, do func(condition string, arg int64) error) error {
	rule := f.RuleID
	if f.ReportID != 0 {
		rule = notify.OfReport(f.ReportID)
	}
	if rule == 0 {
		return do("", 0)
	}
	if err := do(`d.rule_id = $1`, rule); err != nil {
		return err
	}
	return do(`d.id IN (SELECT delivery_id FROM notify_delivery_rules WHERE rule_id = $1)`, rule)
}

// readFiltered returns the newest deliveries by the filter and one more condition,
// whose argument is $1.
func readFiltered(ctx context.Context, tx *db.Tx, f *notify.DeliveryFilter, condition string, arg int64) ([]*notify.Delivery, error) {
	where, args, err := deliveryConditions(ctx, tx, f, condition, arg)
	if err != nil {
		return nil, err
	}
	if f.Among > 0 && (f.AtPlace() || f.Places != nil) {
		last, err := readIDs(ctx, tx, `SELECT d.id FROM notify_deliveries d WHERE `+where+fmt.Sprintf(` ORDER BY d.id DESC LIMIT 1 OFFSET %d`,
			f.Among), args...)
		if err != nil {
			return nil, err
		}
		for _, id := range last {
			args = append(args, id)
			where += fmt.Sprintf(" AND d.id > $%d", len(args))
		}
		where, args = atPlace(f, where, args)
	}
	args = append(args, f.Limit)
	return readDeliveries(ctx, tx, deliverySelect+fmt.Sprintf(newestDeliveries, where, len(args)), args...)
}

// atPlace adds to a condition that the event of a delivery is about the filter's project,
// repository or places.
func atPlace(f *notify.DeliveryFilter, where string, args []any) (string, []any) {
	place := "TRUE"
	if f.AtPlace() {
		args = append(args, notify.Fold(clean(f.Project)), notify.Fold(clean(f.Repository)))
		place += fmt.Sprintf(` AND lower(project_key) = $%[1]d AND ($%[2]d = '' OR lower(repository_key) = $%[2]d)`, len(args)-1, len(args))
	}
	if f.Places != nil {
		condition, keys := inPlaces(f.Places)
		numbers := make([]any, len(keys))
		for i, key := range keys {
			args = append(args, clean(key))
			numbers[i] = fmt.Sprintf("$%d", len(args))
		}
		place += " AND " + fmt.Sprintf(condition, numbers...)
	}
	// Not EXISTS, for which PostgreSQL reads all events.
	return where + ` AND (SELECT ` + place + ` FROM notify_events WHERE id = d.event_id)`, args
}

// newestDeliveries takes the conditions and the number of the argument that is the limit.
const newestDeliveries = ` WHERE %s ORDER BY d.id DESC LIMIT $%d`

// deliveryConditions write the filter and one more condition as SQL.
func deliveryConditions(ctx context.Context, tx *db.Tx, f *notify.DeliveryFilter, condition string, arg int64) (string, []any, error) {
	where := []string{"TRUE"}
	var args []any
	ask := func(condition string, arg any) {
		args = append(args, arg)
		where = append(where, fmt.Sprintf(condition, len(args)))
	}
	if condition != "" {
		args, where = append(args, arg), append(where, condition)
	}
	if f.ChannelID != 0 {
		ask("d.channel_id = $%d", f.ChannelID)
	}
	switch f.State {
	case "":
	case notify.Waiting:
		where = append(where, "d.finished_at = 0 AND d.state = 'waiting'")
	case notify.Deciding:
		where = append(where, "d.state = 'deciding' AND d.id IN ("+undecidedIDs+")")
	case notify.Failed: // spelled out, as the indexes of these two are
		where = append(where, "d.state = 'failed'")
	case notify.Cancelled:
		where = append(where, "d.state = 'cancelled'")
	default:
		ask("d.state = $%d", string(f.State))
	}
	if !f.Since.IsZero() {
		first, err := firstSince(ctx, tx, "notify_deliveries", "created_at", f.Since)
		if err != nil {
			return "", nil, err
		}
		ask("d.id >= $%d", first)
	}
	if f.IDs != nil {
		where = append(where, "d.id IN ("+list(f.IDs)+")")
	}
	if !f.AsOf.IsZero() {
		ask(asOf(f.State), db.Micros(f.AsOf))
	}
	if f.Before != 0 {
		ask("d.id < $%d", f.Before)
	}
	return strings.Join(where, " AND "), args, nil
}

// asOf is the condition that a delivery had its state at a time.
func asOf(state notify.DeliveryState) string {
	const waited, ended = "d.created_at <= $%[1]d AND d.queued_at <= $%[1]d", "d.finished_at > 0 AND d.finished_at <= $%[1]d"
	switch state {
	case "":
		return "(d.finished_at = 0 AND " + waited + " OR " + ended + ")"
	case notify.Waiting, notify.Deciding:
		return waited
	}
	return ended
}

// Delivery returns one delivery with all its attempts: fault.NotFound when
// there is none with the id.
func (s *Store) Delivery(ctx context.Context, id int64) (*notify.Delivery, []notify.Attempt, error) {
	var d *notify.Delivery
	var attempts []notify.Attempt
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := readDeliveries(ctx, tx, deliverySelect+` WHERE d.id = $1`, id)
		if d, err = only(found, err, "There is no delivery with id %d.", id); err != nil {
			return err
		}
		if attempts, err = readAttempts(ctx, tx, id); err == nil && d.State == notify.Delivered {
			attempts = append(attempts, notify.Attempt{Attempt: *d.Last, Exchange: notify.Exchange{Format: d.Format, Batch: d.Batch}})
		}
		return err
	})
	return d, attempts, err
}

func readDeliveries(ctx context.Context, tx *db.Tx, query string, args ...any) ([]*notify.Delivery, error) {
	return db.List(ctx, tx, "reading deliveries", scanDelivery, query, args...)
}

func scanDelivery(row db.Row) (*notify.Delivery, error) {
	d := &notify.Delivery{Last: new(work.Attempt)}
	var rules string
	var took int64
	var event sql.RawBytes
	if err := row.Scan(&d.ID, &d.EventID, &d.ChannelID, &d.Format, &rules, &d.State, &d.Reason, &d.Inside, &d.Note, &d.Attempts, &d.Errors5xx,
		db.At(&d.CreatedAt), db.At(&d.QueuedAt), db.At(&d.DueAt), &d.Beside, &d.Batch, db.At(&d.HeldUntil), db.At(&d.FinishedAt),
		&d.ToChannel, &took, &d.Last.Status, &d.Last.Answer, &d.Last.Public, &event); err != nil {
		return nil, err
	}
	d.Last.Took = micros(took)
	d.Last.At = d.FinishedAt.Add(-d.Last.Took)
	d.Rules = decodeIDs(rules)
	// A row that cannot be read fails alone, when its turn comes.
	e := new(notify.Event)
	if len(d.Rules) > 0 && json.Unmarshal(event, e) == nil && e.Readable() {
		d.Event = e
	}
	return d, nil
}

// Describe adds to deliveries their channels, and the rules and reports that are
// left; what else uses the channel, where none is.
func (s *Store) Describe(ctx context.Context, deliveries []*notify.Delivery) ([]notify.DeliveryInfo, error) {
	if len(deliveries) == 0 {
		return nil, nil
	}
	var ids []int64
	for _, d := range deliveries {
		ids = append(ids, d.Rules...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	rules, reports := make(map[int64]notify.RuleInfo), make(map[int64]notify.ReportInfo)
	var channels map[int64]notify.Channel
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if channels, err = channelsOf(ctx, tx, deliveries); err != nil {
			return err
		}
		if len(ids) > 0 {
			read, err := readRuleInfos(ctx, tx, `r.id IN (`+list(ids)+`)`)
			for _, r := range read {
				rules[r.ID] = r
			}
			if err != nil {
				return err
			}
		}
		if of := notify.ReportIDs(ids); len(of) > 0 {
			read, err := readReports(ctx, tx, `r.id IN (`+list(of)+`)`)
			for _, r := range read {
				reports[notify.OfReport(r.ID)] = r
			}
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]notify.DeliveryInfo, len(deliveries))
	var orphans []int64
	for i, d := range deliveries {
		out[i] = notify.DeliveryInfo{Delivery: d, Channel: channels[d.ChannelID]}
		for _, id := range d.Rules {
			if r, ok := rules[id]; ok {
				out[i].Rules = append(out[i].Rules, r)
			}
			if r, ok := reports[id]; ok {
				out[i].Reports = append(out[i].Reports, r)
			}
		}
		if len(out[i].Rules)+len(out[i].Reports) == 0 {
			orphans = append(orphans, d.ChannelID)
		}
	}
	return out, s.addUsers(ctx, out, orphans)
}

// addUsers sets what uses the channels of deliveries of which no rule or report is
// left.
func (s *Store) addUsers(ctx context.Context, to []notify.DeliveryInfo, channels []int64) error {
	if len(channels) == 0 {
		return nil
	}
	users := make(map[int64]*notify.ChannelInfo)
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		used, err := readIDs(ctx, tx, `SELECT c.id FROM notify_channels c WHERE c.id IN (`+list(channels)+`) AND `+channelThere)
		if err != nil || len(used) == 0 {
			return err
		}
		found, err := readChannelInfos(ctx, tx, used)
		for i := range found {
			users[found[i].ID] = &found[i]
		}
		return err
	})
	for i := range to {
		if d := &to[i]; len(d.Rules)+len(d.Reports) == 0 {
			d.Users = users[d.ChannelID]
		}
	}
	return err
}

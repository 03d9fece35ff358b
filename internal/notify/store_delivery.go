package notify

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/work"
)

const deliverySelect = `SELECT d.id, d.event_id, d.channel_id, d.format, d.rules, d.state, d.reason, d.attempts, d.errors_5xx,
	d.created_at, d.finished_at, e.event FROM notify_deliveries d JOIN notify_events e ON e.id = d.event_id`

// Heads gives the oldest deliveries that wait on a channel, in their order.
func (s *Store) Heads(ctx context.Context, channelID int64, limit int) ([]*Delivery, error) {
	var out []*Delivery
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		out, err = readDeliveries(ctx, tx, deliverySelect+
			` WHERE d.channel_id = $1 AND d.finished_at = 0 ORDER BY d.id LIMIT $2`, channelID, limit)
		return err
	})
	return out, err
}

// ListDeliveries gives the newest deliveries that f lets through.
func (s *Store) ListDeliveries(ctx context.Context, f DeliveryFilter) ([]*Delivery, error) {
	var where []string
	var args []any
	ask := func(condition string, arg any) {
		args = append(args, arg)
		where = append(where, fmt.Sprintf(condition, len(args)))
	}
	from := deliverySelect
	if f.RuleID != 0 {
		from += ` JOIN notify_delivery_rules dr ON dr.delivery_id = d.id`
		ask("dr.rule_id = $%d", f.RuleID)
	}
	if f.ChannelID != 0 {
		ask("d.channel_id = $%d", f.ChannelID)
	}
	switch f.State {
	case "":
	case Waiting:
		where = append(where, "d.finished_at = 0")
	case Failed:
		where = append(where, "d.state = 'failed'")
	default:
		ask("d.state = $%d", string(f.State))
	}
	if f.Before != 0 {
		ask("d.id < $%d", f.Before)
	}
	if len(where) > 0 {
		from += " WHERE " + strings.Join(where, " AND ")
	}
	args = append(args, f.Limit)
	var out []*Delivery
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		out, err = readDeliveries(ctx, tx, fmt.Sprintf("%s ORDER BY d.id DESC LIMIT $%d", from, len(args)), args...)
		return err
	})
	return out, err
}

// Delivery gives one delivery with all its attempts: fault.NotFound when
// there is none with the id.
func (s *Store) Delivery(ctx context.Context, id int64) (*Delivery, []work.Attempt, error) {
	var d *Delivery
	var attempts []work.Attempt
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := readDeliveries(ctx, tx, deliverySelect+` WHERE d.id = $1`, id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fault.New(fault.NotFound, "There is no delivery with id %d.", id)
		}
		d = found[0]
		attempts, err = readAttempts(ctx, tx, id)
		return err
	})
	return d, attempts, err
}

func readDeliveries(ctx context.Context, tx *db.Tx, query string, args ...any) ([]*Delivery, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	defer rows.Close()
	var out []*Delivery
	for rows.Next() {
		d, err := scanDelivery(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, rows.Err()
}

func scanDelivery(rows *sql.Rows) (*Delivery, error) {
	d := new(Delivery)
	var rules string
	var created, finished int64
	var event sql.RawBytes
	if err := rows.Scan(&d.ID, &d.EventID, &d.ChannelID, &d.Format, &rules, &d.State, &d.Reason, &d.Attempts, &d.Errors5xx,
		&created, &finished, &event); err != nil {
		return nil, fmt.Errorf("read delivery: %w", err)
	}
	d.CreatedAt, d.FinishedAt = db.Time(created), db.Time(finished)
	var err error
	if d.Rules, err = decodeIDs(rules); err != nil {
		return nil, err
	}
	// A row that cannot be read fails alone, when its turn comes.
	e := new(Event)
	if json.Unmarshal(event, e) == nil {
		d.Event = e
	}
	return d, nil
}

func readAttempts(ctx context.Context, tx *db.Tx, delivery int64) ([]work.Attempt, error) {
	rows, err := tx.Query(ctx, `SELECT at, took, status, answer, error FROM notify_attempts WHERE delivery_id = $1 ORDER BY number`, delivery)
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	defer rows.Close()
	var out []work.Attempt
	for rows.Next() {
		var a work.Attempt
		var at, took int64
		if err := rows.Scan(&at, &took, &a.Status, &a.Answer, &a.Err); err != nil {
			return nil, fmt.Errorf("read attempt: %w", err)
		}
		a.At, a.Took = db.Time(at), micros(took)
		out = append(out, a)
	}
	return out, rows.Err()
}

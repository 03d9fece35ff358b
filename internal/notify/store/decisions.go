package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// undecidedIDs selects the deliveries of which a rule is undecided: at any time
// those of the last seconds.
const undecidedIDs = `SELECT delivery_id FROM notify_decisions WHERE decision = 'undecided'`

// Undecided returns the oldest deliveries on the channels of the shards of which a
// rule is undecided, at most limit of them, without those in except.
func (s *Store) Undecided(ctx context.Context, shards []int, limit int, except []int64) ([]*notify.Delivery, error) {
	condition := ""
	if len(except) > 0 {
		condition = ` AND d.id NOT IN (` + list(except) + `)`
	}
	return s.readUndecided(ctx, shards, limit, condition)
}

func (s *Store) readUndecided(
	ctx context.Context, shards []int, limit int, condition string, args ...any,
) (found []*notify.Delivery, err error) {
	if len(shards) == 0 {
		return nil, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err = readDeliveries(ctx, tx, fmt.Sprintf(`%s WHERE d.id IN (%s) AND %s%s ORDER BY d.id LIMIT %d`,
			deliverySelect, undecidedIDs, inShards("d.channel_id", shards), condition, limit), args...)
		if err != nil {
			return err
		}
		return readUndecidedRules(ctx, tx, found)
	})
	return found, err
}

// readUndecidedRules sets which rules of deliveries are undecided.
func readUndecidedRules(ctx context.Context, tx *db.Tx, deliveries []*notify.Delivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	byID := make(map[int64]*notify.Delivery, len(deliveries))
	ids := make([]int64, len(deliveries))
	for i, d := range deliveries {
		byID[d.ID], ids[i] = d, d.ID
	}
	return tx.EachRow(ctx, "reading undecided rules", func(row db.Row) error {
		var delivery, rule int64
		if err := row.Scan(&delivery, &rule); err != nil {
			return err
		}
		byID[delivery].Undecided = append(byID[delivery].Undecided, rule)
		return nil
	}, `SELECT delivery_id, rule_id FROM notify_decisions
		WHERE decision = 'undecided' AND delivery_id IN (`+list(ids)+`) ORDER BY rule_id`)
}

// EventDecisions returns what was decided about an event after it had come.
func (s *Store) EventDecisions(ctx context.Context, event int64) ([]notify.Decision, error) {
	return db.ReadList(ctx, s.db, "reading decisions", func(row db.Row) (d notify.Decision, err error) {
		var decision string
		err = row.Scan(&d.RuleID, &decision, &d.Member, &d.Note)
		d.Taken = decision == "taken"
		return d, err
	}, `SELECT rule_id, decision, member, note FROM notify_decisions WHERE event_id = $1 AND decision <> 'undecided' ORDER BY rule_id`, event)
}

// overdueSlice is how many overdue deliveries are released in one transaction.
const overdueSlice = 100

// ReleaseUndecided lets deliveries go out that have been undecided for longer
// than age, as if all of their rules took them, and says how many those were.
func (s *Store) ReleaseUndecided(ctx context.Context, shards []int, age time.Duration) (n int, err error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return 0, err
	}
	for {
		found, err := s.readUndecided(ctx, shards, overdueSlice, ` AND d.created_at < $1`, db.Micros(now.Add(-age)))
		if err != nil || len(found) == 0 {
			return n, err
		}
		settlements := make([]*notify.Settlement, len(found))
		for i, d := range found {
			settlements[i] = &notify.Settlement{Delivery: d}
			for _, rule := range d.Undecided {
				settlements[i].Decisions = append(settlements[i].Decisions, notify.Decision{RuleID: rule, Taken: true, Note: notify.OverdueNote})
			}
		}
		if err := s.Settle(ctx, settlements); err != nil {
			return n, err
		}
		n += len(found)
	}
}

// Settle commits decisions. Those of rules that were decided before are passed
// over, so that several may decide the same delivery.
func (s *Store) Settle(ctx context.Context, settlements []*notify.Settlement) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := shareGeneration(ctx, tx); err != nil { // see readTargets
			return err
		}
		for _, decided := range settlements {
			if err := s.settle(ctx, tx, decided); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) settle(ctx context.Context, tx *db.Tx, decided *notify.Settlement) error {
	d, err := lockDelivery(ctx, tx, decided.Delivery)
	if err != nil || d == nil {
		return err
	}
	fresh, err := writeDecisions(ctx, tx, decided)
	if err != nil || len(fresh) == 0 {
		return err
	}
	if decided.Event != nil {
		if err := replaceEvent(ctx, tx, decided.Delivery.EventID, decided.Event); err != nil {
			return err
		}
	}
	taken, wasDeciding := 0, d.State == notify.Deciding
	for _, f := range fresh {
		if f.Taken {
			taken++
			d.AddNote(f.Note)
		} else {
			d.Rules = slices.DeleteFunc(d.Rules, func(id int64) bool { return id == f.RuleID })
		}
	}
	if err := tx.Do(ctx, "counting rules",
		`UPDATE notify_events SET rules = rules + $1 WHERE id = $2`, taken, decided.Delivery.EventID); err != nil {
		return err
	}
	if d.State == notify.Deciding && taken == 0 {
		left, err := readIDs(ctx, tx, `SELECT rule_id FROM notify_decisions WHERE decision = 'undecided' AND delivery_id = $1`, d.ID)
		switch {
		case err != nil:
			return err
		case len(left) == 0:
			return s.removeDelivery(ctx, tx, d)
		}
	} else if d.State == notify.Deciding {
		d.State = notify.Waiting
		tx.AfterCommit(func() { s.counts.match(1) })
	}
	if err := s.updateDecided(ctx, tx, d, len(fresh) > taken); err != nil {
		return err
	}
	if d.State == notify.Waiting && taken > 0 {
		if err := s.holdDecided(ctx, tx, d, decided.Delivery, wasDeciding); err != nil {
			return err
		}
	}
	return s.followRules(ctx, tx, d, fresh)
}

// replaceEvent stores what is left of an event.
func replaceEvent(ctx context.Context, tx *db.Tx, id int64, e *notify.Event) error {
	encoded, err := encodeEvent(e)
	if err != nil {
		return err
	}
	return tx.Do(ctx, "updating event", `UPDATE notify_events SET event = $1 WHERE id = $2`, encoded, id)
}

// writeDecisions keeps those that are of rules still undecided, and gives them.
func writeDecisions(ctx context.Context, tx *db.Tx, decided *notify.Settlement) (fresh []notify.Decision, err error) {
	for _, one := range decided.Decisions {
		decision := "refused"
		if one.Taken {
			decision = "taken"
		}
		n, err := tx.Changed(ctx, "keeping a decision", `UPDATE notify_decisions SET decision = $1, member = $2, note = $3, decided_at = $4
			WHERE event_id = $5 AND rule_id = $6 AND decision = 'undecided'`,
			decision, one.Member, clean(one.Note), db.Micros(tx.Now()), decided.Delivery.EventID, one.RuleID)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			fresh = append(fresh, one)
		}
	}
	return fresh, nil
}

// leaveDeciding has deliveries that end be like others before: what their rules
// would have said is not asked any more.
func (s *Store) leaveDeciding(ctx context.Context, tx *db.Tx, ids string) error {
	const what = "ending what is undecided"
	n, err := tx.Changed(ctx, what, `UPDATE notify_deliveries SET state = 'waiting' WHERE state = 'deciding' AND finished_at = 0
		AND id IN (`+ids+`)`)
	if err != nil {
		return err
	}
	tx.AfterCommit(func() { s.counts.match(int(n)) })
	return tx.Do(ctx, what, `DELETE FROM notify_decisions WHERE decision = 'undecided' AND delivery_id IN (`+ids+`)`)
}

func countDeciding(deliveries []*notify.Delivery) (n int) {
	for _, d := range deliveries {
		if d.State == notify.Deciding {
			n++
		}
	}
	return n
}

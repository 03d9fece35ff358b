package relay

import (
	"context"
	"encoding/json"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
)

// saveResult commits what an attempt led to. It returns fault.Conflict, having written
// nothing, if another node sends this queue now.
func (q *Queue) saveResult(ctx context.Context, r *result) error { return q.results.Do(ctx, r) }

// writeResults writes the outcomes of many attempts in one transaction.
func (q *Queue) writeResults(ctx context.Context, tx *db.Tx, items []*result) error {
	if err := fenced(ctx, tx, items); err != nil {
		return err
	}
	change := make(tallies)
	rest, err := q.deleteDone(ctx, tx, items, change)
	if err != nil {
		return err
	}
	var failed int64
	for _, r := range rest {
		more, err := q.saveOne(ctx, tx, r, change)
		if err != nil {
			return err
		}
		failed += more
	}
	tx.AfterCommit(func() { q.metrics.failed.Add(float64(failed)) })
	return change.count(ctx, tx, q)
}

func fenced(ctx context.Context, tx *db.Tx, items []*result) error {
	for i, r := range items {
		if i > 0 && r.lease == items[i-1].lease && r.fence == items[i-1].fence {
			continue
		}
		if err := tx.Fenced(ctx, r.lease, r.fence); err != nil {
			return err
		}
	}
	return nil
}

// deleteDone deletes the messages that were sent to every recipient, and returns the other
// results: of messages with recipients that still wait, or that an administrator put back
// meanwhile.
func (q *Queue) deleteDone(ctx context.Context, tx *db.Tx, items []*result, change tallies) (rest []*result, err error) {
	byTurn := make(map[int][]int64) // by how many recipients wait if none came back
	for _, r := range items {
		if r.done() {
			byTurn[len(r.turn)] = append(byTurn[len(r.turn)], r.id)
		}
	}
	deleted := make(map[int64]bool, len(items))
	for turn, ids := range byTurn {
		if err := q.deleteSent(ctx, tx, ids, turn, deleted); err != nil {
			return nil, err
		}
	}
	var others []int64
	for _, r := range items {
		if !deleted[r.id] {
			rest = append(rest, r)
			continue
		}
		change.add(q.o.NodeID, mailqueue.Sizes{Size: 1}, -1)
		if r.parts > 0 || r.recipients.tried() {
			others = append(others, r.id)
		}
	}
	return rest, deleteWithThem(ctx, tx, others)
}

// deleteSent deletes those of the messages that have this number of waiting recipients
// and no failed one, and notes which it deleted.
func (q *Queue) deleteSent(ctx context.Context, tx *db.Tx, ids []int64, waiting int, deleted map[int64]bool) error {
	among, list := `= ANY($1)`, any(ids)
	if tx.Dialect() == db.SQLite {
		text, _ := json.Marshal(ids) // integers always encode
		among, list = `IN (SELECT value FROM json_each($1))`, string(text)
	}
	var id int64
	return tx.EachRow(ctx, "deleting sent messages", func(row db.Row) error {
		err := row.Scan(&id)
		deleted[id] = true
		return err
	}, `DELETE FROM relay_messages WHERE id `+among+` AND node_id = $2 AND waiting = $3 AND failed = 0 RETURNING id`,
		list, q.o.NodeID, waiting)
}

// saveOne stores the outcome for each recipient of one message. It returns 1 if that put
// the message into the error queue, else 0. A message that was deleted meanwhile stays
// deleted.
func (q *Queue) saveOne(ctx context.Context, tx *db.Tx, r *result, change tallies) (failed int64, err error) {
	m, err := lock(ctx, tx, r.id)
	if err != nil || m == nil {
		return 0, err
	}
	_, before := m.recipients.count()
	for i, n := range r.turn {
		if n < len(m.recipients) && m.recipients[n].waits() {
			r.outcomes[i].apply(&m.recipients[n], tx.Now())
		}
	}
	_, now := m.recipients.count()
	if now > 0 {
		failed = 1 - m.was.ErrorSize
	}
	if r.bounce != nil && now > before {
		if err := q.writeArrivals(ctx, tx, []*arrival{r.bounce}); err != nil {
			return 0, err
		}
	}
	if err := saveAttempts(ctx, tx, r, m.node); err != nil {
		return 0, err
	}
	return failed, change.save(ctx, tx, m)
}

// saveAttempts stores the attempt, once for each different answer.
func saveAttempts(ctx context.Context, tx *db.Tx, r *result, node string) error {
	var number int64
	if err := tx.Get(ctx, "counting attempts", []any{&number},
		`SELECT COALESCE(MAX(number), 0) FROM relay_attempts WHERE message_id = $1`, r.id); err != nil {
		return err
	}
	type said struct {
		status      int
		answer, err string
	}
	var order []said
	about := make(map[said][]string)
	for i := range r.outcomes {
		o := &r.outcomes[i]
		if !o.counts {
			continue
		}
		s := said{o.status, o.answer, o.err}
		if about[s] == nil {
			order = append(order, s)
		}
		about[s] = append(about[s], r.recipients[r.turn[i]].Address)
	}
	args := make([][]any, len(order))
	for i, s := range order {
		recipients, err := json.Marshal(about[s])
		if err != nil {
			return fmt.Errorf("storing recipients: %w", err)
		}
		number++
		args[i] = []any{r.id, number, node, string(recipients), db.Micros(r.at), r.took.Microseconds(), s.status, s.answer, s.err}
	}
	return tx.Each(ctx, "inserting attempts",
		`INSERT INTO relay_attempts (message_id, number, node_id, recipients, at, took, status, answer, error)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, args, nil)
}

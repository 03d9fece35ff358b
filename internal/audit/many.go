package audit

import (
	"context"

	"outrigger/internal/db"
)

// Many is one entry about a change of many things that takes several transactions:
// the first that changes something records it, and each further one says in it how
// far the change has come.
type Many struct{ id int64 }

// Record writes the entry of what is done by now, in the transaction that did the
// last part of it.
func (m *Many) Record(ctx context.Context, tx *db.Tx, e Entry) error {
	if m.id == 0 {
		id, err := record(ctx, tx, e)
		tx.AfterCommit(func() { m.id = id })
		return err
	}
	before, after := difference(e.Before, e.After)
	return tx.Do(ctx, "recording in the audit trail",
		`UPDATE audit_entries SET object_id = $1, before_json = $2, after_json = $3 WHERE id = $4`,
		e.ObjectID, before, after, m.id)
}

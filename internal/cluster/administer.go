package cluster

import (
	"context"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// record notes in the audit trail what an administrator does to a node.
func record(ctx context.Context, tx *db.Tx, id string, e event, from, to State) error {
	action, ok := map[event]string{drained: "drain", resumed: "resume"}[e]
	if !ok {
		return nil
	}
	return audit.Record(ctx, tx, identity.WithActor(ctx, audit.Entry{
		Area: "system", Action: action, Object: "node", ObjectID: id,
		Before: map[string]string{"state": string(from)}, After: map[string]string{"state": string(to)},
	}))
}

// Remove takes a node off the list. It must be OFFLINE: else fault.Conflict;
// fault.NotFound when there is none of that id. It comes back when its process
// starts again.
func Remove(ctx context.Context, tx *db.Tx, id string) error {
	state, err := lockState(ctx, tx, id)
	if err != nil {
		return err
	}
	if state != Offline {
		return fault.New(fault.Conflict, "The node %s is %s: only an %s node can be removed.", id, state, Offline)
	}
	return tx.Do(ctx, "removing a node", `DELETE FROM cluster_nodes WHERE id = $1`, id)
}

// OfflineSince lists up to limit nodes that have been OFFLINE since before a
// time, the longest first.
func OfflineSince(ctx context.Context, tx *db.Tx, before time.Time, limit int) ([]string, error) {
	return db.List(ctx, tx, "listing the nodes that are offline", db.Value[string],
		`SELECT id FROM cluster_nodes WHERE state = $1 AND changed_at < $2 ORDER BY changed_at, id LIMIT $3`, Offline, db.Micros(before), limit)
}

package db

import (
	"context"

	"outrigger/internal/fault"
)

// CheckRelease asks whether the schema is still one that this program may use. If
// a later release has claimed it meanwhile, every Read, Write and Batch from now on
// is fault.Unavailable with the sentence that CheckRelease gives, until a later
// check finds otherwise.
func (d *DB) CheckRelease(ctx context.Context) error {
	err := d.engine.read(ctx, func(tx *Tx) error { return tx.release(ctx) })
	switch {
	case err == nil:
		d.refused.Store(nil)
	case fault.Is(err, fault.Conflict):
		refused := fault.New(fault.Unavailable, "%s", fault.As(err).Message)
		d.refused.Store(refused)
		return refused
	}
	return public(err)
}

// release refuses a schema that is too new for this program.
func (tx *Tx) release(ctx context.Context) error {
	var needs int64
	_, err := tx.Find(ctx, "reading the release", []any{&needs}, `SELECT value FROM schema_meta WHERE name = 'needs_release'`)
	if err != nil {
		return err
	}
	if needs > Release {
		return fault.New(fault.Conflict, "This database was upgraded by a newer program: it needs schema release %d, and this program has %d. "+
			"Install the newer program on this node.", needs, Release)
	}
	return nil
}

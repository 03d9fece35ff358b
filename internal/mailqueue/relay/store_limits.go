package relay

import (
	"context"
	"time"

	"outrigger/internal/db"
)

// readLimit reads for how long sending pauses for a limit of a sign-in, and why; why is ""
// if it does not pause.
func (q *Queue) readLimit(ctx context.Context, signIn string) (left time.Duration, why string, err error) {
	err = q.db.Read(ctx, func(tx *db.Tx) error {
		var until time.Time
		_, err := tx.Find(ctx, "reading the limits of "+signIn, []any{db.At(&until), &why},
			`SELECT paused_until, paused_for FROM relay_limits WHERE sign_in = $1`, signIn)
		left = until.Sub(tx.Now())
		return err
	})
	return left, why, err
}

// writeLimit notes that sending pauses on all nodes for the time left, and why; if why is
// "", it goes on.
func (q *Queue) writeLimit(ctx context.Context, signIn string, left time.Duration, why string) error {
	return q.db.Write(ctx, func(tx *db.Tx) error {
		until := int64(0)
		if why != "" {
			until = db.Micros(tx.Now().Add(left))
		}
		return tx.Do(ctx, "noting the limits of "+signIn, `INSERT INTO relay_limits (sign_in, paused_until, paused_for) VALUES ($1, $2, $3)
			ON CONFLICT (sign_in) DO UPDATE SET paused_until = excluded.paused_until, paused_for = excluded.paused_for`, signIn, until, why)
	})
}

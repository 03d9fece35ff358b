package backup

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// Reason is why sending is held back.
type Reason string

// The reasons. Those of cluster are what a node found.
const (
	FromBackup Reason = "backup" // a file was restored
	Marked     Reason = "marked" // an administrator said that another tool restored the database
	Asked      Reason = "asked"  // an administrator started the server so
	Earlier           = Reason(cluster.Earlier)
	Other             = Reason(cluster.Other)
	Unknown           = Reason(cluster.Unknown)
)

// Restored is how this database came to be, where it was restored, and that sending
// is held back.
type Restored struct {
	Reason      Reason
	File        string    // of FromBackup: its name, without folders
	At          time.Time // when it was restored, or that was noticed
	Node        string    // which node noticed, or was started so; "" where none did
	SeenAt      time.Time // when Node saw its database last; zero: not known
	StateAt     time.Time // the last heartbeat in the state that Node found
	Carried     string    // of FromBackup: what of access that ended was carried over; "": nothing could be
	ConfirmedBy string    // "" while sending is held back
	ConfirmedAt time.Time
}

// Held reports whether sending is held back.
func (r *Restored) Held() bool { return r != nil && r.ConfirmedAt.IsZero() }

// String is a sentence about what happened.
func (r *Restored) String() string {
	switch r.Reason {
	case FromBackup:
		return "This database was restored from " + r.File + " at " + minute(r.At) + "."
	case Marked:
		return "This database was marked as restored at " + minute(r.At) + "."
	case Asked:
		return "The node " + r.Node + " was started with --hold at " + minute(r.At) + "."
	case Earlier:
		return "This database was restored: the node " + r.Node + " saw it last at " + minute(r.SeenAt) +
			", and at " + minute(r.At) + " found an earlier state, of " + minute(r.StateAt) + "."
	case Other:
		return "At " + minute(r.At) + " the node " + r.Node + " found another database than the one that it saw last, at " + minute(r.SeenAt) +
			"."
	}
	return "At " + minute(r.At) + " the node " + r.Node + " could not read its note of the database that it saw last, so this may be an " +
		"earlier state of it."
}

// AsThen is what holds of access where what ended since is not known.
const AsThen = "Users, permissions, passwords and second factors are those of the restored state: change passwords and remove " +
	"users that must not be valid any more. Tokens of scope all, read and backup are refused until you choose which of them to " +
	"keep. Tokens of scope mail, builds and monitoring work: revoke those that must not."

// Access says what of the access that ended since holds again.
func (r *Restored) Access() string { return cmp.Or(r.Carried, AsThen) }

// Tokens lists the tokens that rest after a restore, and, while it is not confirmed,
// those that work and may have been revoked since.
func (s *Service) Tokens(ctx context.Context) (rest, work []identity.Token, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		r, err := read(ctx, tx)
		if err != nil || r == nil {
			return err
		}
		if rest, err = identity.RestingTokens(ctx, tx); err == nil && r.Held() && r.Carried == "" {
			work, err = identity.WorkingTokens(ctx, tx)
		}
		return err
	})
	return rest, work, err
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// Restored returns the last restore of this database; nil where there was none.
func (s *Service) Restored(ctx context.Context) (*Restored, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (*Restored, error) { return read(ctx, tx) })
}

// Held reports whether sending is held back.
func (s *Service) Held(ctx context.Context) (bool, error) {
	r, err := s.Restored(ctx)
	return r.Held(), err
}

// Pending counts what goes out when sending begins.
func (s *Service) Pending(ctx context.Context) (p Pending, err error) {
	p, err = db.Read(ctx, s.db, func(tx *db.Tx) (Pending, error) { return s.count(ctx, tx) })
	if err != nil {
		return Pending{}, fmt.Errorf("counting what waits: %w", err)
	}
	return p, nil
}

func read(ctx context.Context, tx *db.Tx) (*Restored, error) {
	var r Restored
	found, err := tx.Find(ctx, "reading whether the database was restored", []any{
		&r.Reason, &r.File, db.At(&r.At), &r.Node, db.At(&r.SeenAt), db.At(&r.StateAt), &r.Carried, &r.ConfirmedBy, db.At(&r.ConfirmedAt),
	}, `SELECT reason, file, restored_at, node, seen_at, state_at, carried, confirmed_by, confirmed_at FROM backup_restored WHERE id = 1`)
	if err != nil || !found {
		return nil, err
	}
	return &r, nil
}

// Hold holds back sending on all nodes until Confirm. Where it is held back already,
// the reason of that stays.
func (s *Service) Hold(ctx context.Context, r Restored) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		held, err := read(ctx, tx)
		if err != nil || held.Held() {
			return err
		}
		r.At = tx.Now()
		return hold(ctx, tx, &r)
	})
}

// Mark is Hold for a database that another tool has restored. It also has no node
// find that by itself again.
func (s *Service) Mark(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := cluster.Leap(ctx, tx); err != nil {
			return err
		}
		return hold(ctx, tx, &Restored{Reason: Marked, At: tx.Now()})
	})
}

func hold(ctx context.Context, tx *db.Tx, r *Restored) error {
	if err := store(ctx, tx, r); err != nil {
		return err
	}
	if err := identity.AfterRestore(ctx, tx); err != nil {
		return err
	}
	return record(ctx, tx, "hold", "restore", map[string]string{"reason": string(r.Reason), "node": r.Node})
}

func store(ctx context.Context, tx *db.Tx, r *Restored) error {
	return tx.Do(ctx, "marking the database as restored",
		`INSERT INTO backup_restored (id, reason, file, restored_at, node, seen_at, state_at, carried, confirmed_by,
		confirmed_at)
		VALUES (1, $1, $2, $3, $4, $5, $6, $7, '', 0)
		ON CONFLICT (id) DO UPDATE SET reason = excluded.reason, file = excluded.file, restored_at = excluded.restored_at, node = excluded.node,
			seen_at = excluded.seen_at, state_at = excluded.state_at, carried = excluded.carried, confirmed_by = '', confirmed_at = 0`,
		r.Reason, r.File, db.Micros(r.At), r.Node, db.Micros(r.SeenAt), db.Micros(r.StateAt), r.Carried)
}

// Beaten belongs to a heartbeat of this node: it holds back sending where the node
// found another state of the database, and learns what was decided on other nodes.
func (s *Service) Beaten(ctx context.Context, tx *db.Tx, found *cluster.Finding) error {
	r, err := read(ctx, tx)
	if err != nil {
		return err
	}
	switch {
	case found == nil:
	case r.Held(): // in the earlier state too, which may have other tokens than that after it
		err = identity.AfterRestore(ctx, tx)
	default:
		r = &Restored{Reason: Reason(found.Found), At: tx.Now(), Node: found.Node, SeenAt: found.SeenAt, StateAt: found.StateAt}
		err = hold(ctx, tx, r)
	}
	if err != nil {
		return err
	}
	tx.AfterCommit(func() { s.learn(r) })
	return nil
}

// learn follows what the database says. What it said at first is how the server
// started.
func (s *Service) learn(r *Restored) {
	s.knowing.Lock()
	defer s.knowing.Unlock()
	held := r.Held()
	if r != nil && !held {
		s.over = r.At
	}
	switch {
	case !s.known:
		s.known, s.held = true, held
	case s.held && !held:
		s.held = false
		close(s.confirmed)
	case !s.held && held && !s.stopped && !r.At.Equal(s.over): // a heartbeat may come behind the confirmation that it did not see
		s.stopped = true
		close(s.holding)
	}
}

// HeldAtFirst reports whether sending was held back at this node's first heartbeat.
func (s *Service) HeldAtFirst() bool {
	s.knowing.Lock()
	defer s.knowing.Unlock()
	return s.held
}

// Confirmed is closed when sending, which was held back, may begin on this node.
func (s *Service) Confirmed() <-chan struct{} { return s.confirmed }

// Holding is closed when this node sends and must not any more.
func (s *Service) Holding() <-chan struct{} { return s.holding }

// Confirm lets sending begin after a restore, on the word of a SYS_ADMIN: on this
// node at once, on others at their next heartbeat. Tokens of the ids keep, which rest,
// work again. fault.Conflict where nothing is held back, and no token is to be kept.
func (s *Service) Confirm(ctx context.Context, keep ...int64) error {
	if err := identity.Require(ctx, identity.SysAdmin, identity.Resource{}); err != nil {
		return err
	}
	var r *Restored
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if r, err = read(ctx, tx); err != nil {
			return err
		}
		if err := identity.KeepTokens(ctx, tx, keep); err != nil {
			return err
		}
		switch {
		case r.Held():
		case len(keep) > 0:
			return nil
		default:
			return ErrNotHeld()
		}
		r.ConfirmedAt = tx.Now()
		if p := identity.From(ctx); p != nil {
			r.ConfirmedBy = p.Name
		}
		if err := tx.ChangeOne(ctx, "confirming the restore", ErrNotHeld(), // where someone else was quicker
			`UPDATE backup_restored SET confirmed_by = $1, confirmed_at = $2 WHERE id = 1 AND confirmed_at = 0`, r.ConfirmedBy,
			db.Micros(r.ConfirmedAt)); err != nil {
			return err
		}
		return record(ctx, tx, "confirm", "restore", map[string]string{
			"reason": string(r.Reason), "file": r.File, "restoredAt": r.At.Format(time.RFC3339),
		})
	})
	if err != nil {
		return err
	}
	s.learn(r)
	return nil
}

// ErrNotHeld is the answer to a confirmation where there is nothing to confirm.
func ErrNotHeld() error {
	return fault.New(fault.Conflict, "There is no restore to confirm; the server is sending.")
}

func record(ctx context.Context, tx *db.Tx, action, object string, after map[string]string) error {
	return audit.Record(ctx, tx, identity.WithActor(ctx, audit.Entry{
		Who: "outrigger", Area: "system", Action: action, Object: object, After: after,
	}))
}

package store

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

const (
	// backupRows is how many maps one read takes: a few milliseconds.
	backupRows = 1000

	// snapshotTime is how long old maps are kept for a reader that says nothing
	// more: one that lost its node. A reader says so four times as often.
	snapshotTime = 4 * time.Minute
)

// Snapshot reads every map as it was at one version, whatever is written
// meanwhile, in short reads.
type Snapshot struct {
	At time.Time

	store   *Store
	id      int64
	version int64
	renewed time.Time
	from    int64 // the next issue
	ended   bool
}

// Snapshot begins to read the maps as they are now. It must be closed.
func (s *Store) Snapshot(ctx context.Context) (*Snapshot, error) {
	snap := &Snapshot{store: s, from: math.MinInt64}
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		snap.At, snap.renewed = tx.Now(), tx.Now()
		// After the transaction that writes now; see writeMaps.
		version, err := s.version(ctx, tx, tx.ForUpdate())
		if err != nil {
			return err
		}
		snap.version = version
		return tx.Get(ctx, "beginning to read the maps", []any{&snap.id},
			`INSERT INTO threads_snapshots (target_id, version, expires_at) VALUES ($1, $2, $3) RETURNING id`,
			s.id, version, db.Micros(tx.Now().Add(snapshotTime)))
	})
	if err != nil {
		return nil, err
	}
	return snap, nil
}

// version is that of the maps; lock is added to the query.
func (s *Store) version(ctx context.Context, tx *db.Tx, lock string) (version int64, err error) {
	err = tx.Get(ctx, "reading the version of the maps", []any{&version}, `SELECT version FROM threads_targets WHERE id = $1`+lock, s.id)
	return version, err
}

// Close ends the reading: what is written over need not be kept any more.
func (n *Snapshot) Close(ctx context.Context) {
	_ = n.store.db.Do(context.WithoutCancel(ctx), "ending a backup", `DELETE FROM threads_snapshots WHERE id = $1`, n.id) // else it expires
}

// renew says that the snapshot is still read.
func (n *Snapshot) renew(ctx context.Context) error {
	return n.store.db.Write(ctx, func(tx *db.Tx) error {
		n.renewed = tx.Now()
		return tx.ChangeOne(ctx, "going on reading the maps",
			fault.New(fault.Unavailable, "The backup was read too slowly, and what it would need is gone. Begin it again."),
			`UPDATE threads_snapshots SET expires_at = $2 WHERE id = $1 AND expires_at > $3`,
			n.id, db.Micros(tx.Now().Add(snapshotTime)), db.Micros(tx.Now()))
	})
}

// Next returns some more maps, in the order of their issues; nil at the end.
func (n *Snapshot) Next(ctx context.Context) (maps []threads.IssueMap, err error) {
	if n.ended {
		return nil, nil
	}
	var now time.Time
	err = n.store.db.Read(ctx, func(tx *db.Tx) error {
		now = tx.Now()
		maps, err = n.read(ctx, tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if now.Sub(n.renewed) > snapshotTime/4 {
		err = n.renew(ctx)
	}
	return maps, err
}

// read takes the maps of a range of issues: as they are, where they are not
// newer than the version, else as they were.
func (n *Snapshot) read(ctx context.Context, tx *db.Tx) ([]threads.IssueMap, error) {
	present, err := n.rows(ctx, tx, `SELECT issue_id, version, parents FROM threads_maps
		WHERE target_id = $1 AND issue_id >= $2 ORDER BY issue_id LIMIT $3`, n.store.id, n.from, backupRows)
	if err != nil {
		return nil, err
	}
	to := int64(math.MaxInt64)
	if len(present) == backupRows {
		to = present[len(present)-1].issue
	}
	old, err := n.rows(ctx, tx, `SELECT issue_id, version, parents FROM threads_old_maps
		WHERE target_id = $1 AND issue_id >= $2 AND issue_id <= $3 AND version <= $4 AND until > $4
		ORDER BY issue_id`, n.store.id, n.from, to, n.version)
	if err != nil {
		return nil, err
	}
	if n.ended = to == math.MaxInt64; !n.ended {
		n.from = to + 1
	}
	return n.pick(present, old)
}

type versionRow struct {
	issue, version int64
	parents        string
}

func (n *Snapshot) rows(ctx context.Context, tx *db.Tx, q string, args ...any) ([]versionRow, error) {
	return db.List(ctx, tx, "reading maps", func(row db.Row) (r versionRow, err error) {
		err = row.Scan(&r.issue, &r.version, &r.parents)
		return r, err
	}, q, args...)
}

// pick puts the rows of the version together, in the order of issues.
func (n *Snapshot) pick(present, old []versionRow) ([]threads.IssueMap, error) {
	rows := slices.DeleteFunc(present, func(r versionRow) bool { return r.version > n.version })
	rows = append(rows, old...)
	slices.SortFunc(rows, func(a, b versionRow) int { return cmp.Compare(a.issue, b.issue) })
	maps := make([]threads.IssueMap, len(rows))
	for i, r := range rows {
		parents, err := parseMap(r.issue, r.parents)
		if err != nil {
			return nil, err
		}
		maps[i] = threads.IssueMap{CloudIssueID: r.issue, Parents: parents}
	}
	return maps, nil
}

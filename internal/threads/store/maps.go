package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// Map returns the map of an issue as it is in the database; an empty one where
// there is none.
func (s *Store) Map(ctx context.Context, cloudIssueID int64) (m threads.ParentMap, err error) {
	var text string
	found, err := s.db.Find(ctx, fmt.Sprintf("reading the map of issue %d", cloudIssueID), []any{&text},
		`SELECT parents FROM threads_maps WHERE target_id = $1 AND issue_id = $2`, s.id, cloudIssueID)
	if err != nil || !found {
		return nil, err
	}
	return parseMap(cloudIssueID, text)
}

func parseMap(issue int64, text string) (threads.ParentMap, error) {
	m, err := threads.ParseParentMap([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the map of issue %d: %w", issue, err)
	}
	return m, nil
}

// Maps returns the maps of issues as they are in the database, of those that have
// one.
func (s *Store) Maps(ctx context.Context, cloudIssueIDs []int64) (maps map[int64]threads.ParentMap, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := (&mapWriter{store: s, tx: tx}).read(ctx, cloudIssueIDs)
		if err != nil {
			return err
		}
		maps = make(map[int64]threads.ParentMap, len(found))
		for id, row := range found {
			if maps[id], err = parseMap(id, row.parents); err != nil {
				return err
			}
		}
		return nil
	})
	return maps, err
}

// storedMap is a row of the maps.
type storedMap struct {
	version int64
	parents string
}

// mapWriter writes maps in one transaction.
type mapWriter struct {
	store    *Store
	tx       *db.Tx
	version  int64 // of what is written here
	snapshot int64 // a snapshot of this version is read; -1: none is
}

// writeMaps begins to write maps. The row of the target is locked, so that
// writers and those who begin to read a version are one after the other.
func (s *Store) writeMaps(ctx context.Context, tx *db.Tx) (*mapWriter, error) {
	const what = "beginning to write maps"
	w := &mapWriter{store: s, tx: tx}
	if tx.Dialect() == db.Postgres {
		// A plan made while the table was small reads all of it, and would be
		// kept while it grows.
		if err := tx.Do(ctx, what, `SET LOCAL plan_cache_mode = force_custom_plan`); err != nil {
			return nil, err
		}
	}
	if err := tx.Get(ctx, what, []any{&w.version},
		`UPDATE threads_targets SET version = version + 1 WHERE id = $1 RETURNING version`, s.id); err != nil {
		return nil, err
	}
	return w, tx.Get(ctx, what, []any{&w.snapshot},
		`SELECT coalesce(max(version), -1) FROM threads_snapshots WHERE target_id = $1 AND expires_at > $2`, s.id, db.Micros(tx.Now()))
}

// read returns the rows of issues.
func (w *mapWriter) read(ctx context.Context, issues []int64) (map[int64]storedMap, error) {
	found := make(map[int64]storedMap, len(issues))
	for part := range slices.Chunk(issues, db.MostIDs) {
		from, args := db.From(w.tx, "id", part)
		if err := w.tx.EachRow(ctx, "reading maps", func(row db.Row) error {
			var id int64
			var m storedMap
			err := row.Scan(&id, &m.version, &m.parents)
			found[id] = m
			return err
		}, `SELECT m.issue_id, m.version, m.parents FROM `+from+` JOIN threads_maps m ON m.issue_id = ids.id AND m.target_id = `+
			strconv.FormatInt(w.store.id, 10), args...); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// merge merges maps into what there is; of two for one issue, the later one
// comes on top.
func (w *mapWriter) merge(ctx context.Context, maps []threads.IssueMap) error {
	return w.combine(ctx, maps, func(n int, old threads.ParentMap) threads.ParentMap { return old.Merge(maps[n].Parents) })
}

// add adds news to what there is, and notes what of them would close a cycle.
func (w *mapWriter) add(ctx context.Context, news []*threads.News) error {
	maps := make([]threads.IssueMap, len(news))
	for i, n := range news {
		maps[i] = n.IssueMap
	}
	return w.combine(ctx, maps, func(n int, old threads.ParentMap) (all threads.ParentMap) {
		all, news[n].Closing = old.Add(news[n].Parents)
		news[n].Before = old.Of(news[n].Parents)
		return all
	})
}

// undo takes back what was added, and gives the issues with relations that were
// changed since.
func (w *mapWriter) undo(ctx context.Context, list []threads.Undo) (kept []threads.UndoLeft, err error) {
	maps := make([]threads.IssueMap, len(list))
	for i, u := range list {
		maps[i] = u.IssueMap
	}
	err = w.combine(ctx, maps, func(n int, old threads.ParentMap) threads.ParentMap {
		undone, changed := list[n].Of(old)
		if changed {
			kept = append(kept, threads.UndoLeft{
				At: list[n].At, IssueID: list[n].IssueID, CloudIssueID: list[n].CloudIssueID, Reason: threads.ChangedByOthers,
			})
		}
		return undone
	})
	return kept, err
}

// combine makes of the map that each issue has, one after the other, what
// change gives.
func (w *mapWriter) combine(
	ctx context.Context, maps []threads.IssueMap, change func(n int, old threads.ParentMap) threads.ParentMap,
) error {
	ids := issuesOf(maps)
	found, err := w.read(ctx, ids)
	if err != nil {
		return err
	}
	now := make(map[int64]string, len(ids))
	for n, m := range maps {
		text, again := now[m.CloudIssueID]
		if !again {
			text = found[m.CloudIssueID].parents
		}
		var old threads.ParentMap
		if text != "" {
			if old, err = parseMap(m.CloudIssueID, text); err != nil {
				return err
			}
		}
		now[m.CloudIssueID] = string(change(n, old).AppendJSON(nil))
	}
	ids = slices.DeleteFunc(ids, func(id int64) bool { return found[id].parents == now[id] })
	return w.save(ctx, ids, found, now)
}

// put makes each issue's map that, whatever there is; each has this version
// then, also where nothing changed.
func (w *mapWriter) put(ctx context.Context, maps []threads.IssueMap) error {
	ids := issuesOf(maps)
	found, err := w.read(ctx, ids)
	if err != nil {
		return err
	}
	now := make(map[int64]string, len(ids))
	for _, m := range maps {
		now[m.CloudIssueID] = string(m.Parents.AppendJSON(nil))
	}
	return w.save(ctx, ids, found, now)
}

// stay leaves the maps of issues as they are, those that there are, and gives
// them this version.
func (w *mapWriter) stay(ctx context.Context, ids []int64) error {
	found, err := w.read(ctx, ids)
	if err != nil {
		return err
	}
	now := make(map[int64]string, len(found))
	for id, m := range found {
		now[id] = m.parents
	}
	return w.save(ctx, slices.Sorted(maps.Keys(found)), found, now)
}

func issuesOf(maps []threads.IssueMap) []int64 {
	ids := make([]int64, len(maps))
	for i, m := range maps {
		ids[i] = m.CloudIssueID
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// noMap is the map of an issue without relations, which has no row.
var noMap = string(threads.ParentMap{}.AppendJSON(nil))

// save writes maps, and keeps the old ones for who reads a version.
func (w *mapWriter) save(ctx context.Context, ids []int64, found map[int64]storedMap, now map[int64]string) error {
	if err := w.keepOld(ctx, ids, found); err != nil {
		return err
	}
	empty := func(id int64) bool { return now[id] == noMap }
	if slices.ContainsFunc(ids, empty) {
		gone := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !empty(id) })
		if err := w.delete(ctx, gone); err != nil {
			return err
		}
		ids = slices.DeleteFunc(ids, empty)
	}
	return db.Insert[int64]{
		Into: `threads_maps (target_id, issue_id, version, parents)`,
		Columns: []db.Column[int64]{
			db.Number(func(int64) int64 { return w.store.id }),
			db.Number(func(id int64) int64 { return id }),
			db.Number(func(int64) int64 { return w.version }),
			db.Text(func(id int64) string { return now[id] }),
		},
		OnConflict: `ON CONFLICT (target_id, issue_id) DO UPDATE SET version = excluded.version, parents = excluded.parents`,
	}.Rows(ctx, w.tx, "writing maps", ids)
}

// remove deletes the maps of issues.
func (w *mapWriter) remove(ctx context.Context, ids []int64) error {
	found, err := w.read(ctx, ids)
	if err != nil {
		return err
	}
	if err := w.keepOld(ctx, ids, found); err != nil {
		return err
	}
	return w.delete(ctx, ids)
}

func (w *mapWriter) delete(ctx context.Context, ids []int64) error {
	for _, id := range ids {
		if err := w.tx.Do(ctx, "deleting a map", `DELETE FROM threads_maps WHERE target_id = $1 AND issue_id = $2`, w.store.id, id); err != nil {
			return err
		}
	}
	return nil
}

// keepOld keeps what is about to be written over or deleted, where a
// snapshot needs it.
func (w *mapWriter) keepOld(ctx context.Context, ids []int64, found map[int64]storedMap) error {
	var needed []int64
	for _, id := range ids {
		if before, there := found[id]; there && before.version <= w.snapshot {
			needed = append(needed, id)
		}
	}
	return db.Insert[int64]{
		Into: `threads_old_maps (target_id, issue_id, version, until, parents)`,
		Columns: []db.Column[int64]{
			db.Number(func(int64) int64 { return w.store.id }),
			db.Number(func(id int64) int64 { return id }),
			db.Number(func(id int64) int64 { return found[id].version }),
			db.Number(func(int64) int64 { return w.version }),
			db.Text(func(id int64) string { return found[id].parents }),
		},
	}.Rows(ctx, w.tx, "keeping maps for a snapshot", needed)
}

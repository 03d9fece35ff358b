package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// buildKey is a build of a commit in a repository.
type buildKey struct {
	connection string
	at         notify.RepositoryRef // folded
	hash, key  string
}

func (k buildKey) args() []any {
	return []any{k.connection, k.at.ProjectKey, k.at.RepositoryKey, k.hash, k.key}
}

func (k buildKey) compare(o buildKey) int {
	return cmp.Or(cmp.Compare(k.connection, o.connection), cmp.Compare(k.at.ProjectKey, o.at.ProjectKey),
		cmp.Compare(k.at.RepositoryKey, o.at.RepositoryKey), cmp.Compare(k.hash, o.hash), cmp.Compare(k.key, o.key))
}

func keyOfBuild(r *notify.Receipt) buildKey {
	e := &r.Events[0]
	at := notify.RepositoryRef{ProjectKey: e.Project.Key, RepositoryKey: e.Repository.Key}
	return buildKey{r.Connection, at.Folded(), r.Build.Commit, clean(r.Build.Key)}
}

// settleBuilds marks those builds Duplicate that are no news, in the order of the
// batch, and keeps what was told last. Until the transaction ends, no other node
// decides about the same ones.
func settleBuilds(ctx context.Context, tx *db.Tx, items []*notify.Receipt) error {
	var builds []*notify.Receipt
	var keys []buildKey
	for _, r := range items {
		if r.Build != nil && r.Refusal == nil {
			builds, keys = append(builds, r), append(keys, keyOfBuild(r))
		}
	}
	if len(builds) == 0 {
		return nil
	}
	slices.SortFunc(keys, buildKey.compare) // in one order, so that no two nodes wait for each other
	keys = slices.Compact(keys)
	seen, err := lockBuilds(ctx, tx, keys)
	if err != nil {
		return err
	}
	for _, r := range builds {
		now, news := r.ResolveBuild(seen[keyOfBuild(r)])
		r.Duplicate, seen[keyOfBuild(r)] = !news, now
	}
	rows := make([][]any, len(keys))
	for i, k := range keys {
		b := seen[k]
		rows[i] = append(k.args(), b.State, clean(b.URL), clean(b.Number), db.Micros(b.Posted), db.Micros(b.Asked), db.Micros(b.At),
			db.Micros(tx.Now()))
	}
	return tx.Each(ctx, "keeping builds", `UPDATE notify_builds SET state = $6, url = $7, number = $8, posted_at = $9,
			asked_at = $10, stood_at = $11, seen_at = $12
		WHERE connection = $1 AND project_fold = $2 AND repository_fold = $3 AND hash = $4 AND build_key = $5`, rows, nil)
}

const buildColumns = `hash, build_key, state, url, number, posted_at, asked_at, stood_at, seen_at`

// lockBuilds returns what was told of builds. Those that are new are inserted,
// since only what is there can be locked.
func lockBuilds(ctx context.Context, tx *db.Tx, keys []buildKey) (map[buildKey]notify.SeenBuild, error) {
	unknown, args := make([][]any, len(keys)), make([][]any, len(keys))
	for i, k := range keys {
		args[i], unknown[i] = k.args(), append(k.args(), db.Micros(tx.Now()))
	}
	if err := tx.Each(ctx, "noting builds", `INSERT INTO notify_builds (connection, project_fold, repository_fold, `+buildColumns+`)
		VALUES ($1, $2, $3, $4, $5, '', '', '', 0, 0, 0, $6) ON CONFLICT DO NOTHING`, unknown, nil); err != nil {
		return nil, err
	}
	seen := make(map[buildKey]notify.SeenBuild, len(keys))
	if err := tx.Each(ctx, "reading builds", `SELECT state, url, number, posted_at, asked_at, stood_at FROM notify_builds
		WHERE connection = $1 AND project_fold = $2 AND repository_fold = $3 AND hash = $4 AND build_key = $5`+tx.ForUpdate(), args,
		func(i int, row db.Row) error {
			var b notify.SeenBuild
			if err := row.Scan(&b.State, &b.URL, &b.Number, db.At(&b.Posted), db.At(&b.Asked), db.At(&b.At)); err != nil {
				return err
			}
			seen[keys[i]] = b
			return nil
		}); err != nil {
		return nil, err
	}
	return seen, nil
}

// moveBuilds has what was told of builds go by the new keys of their repository.
// What was told under those counts.
func moveBuilds(ctx context.Context, tx *db.Tx, by notify.KeyChange) error {
	return moveRows(ctx, tx, "moving builds", "notify_builds", buildColumns, `ON CONFLICT DO NOTHING`, by)
}

// moveRows has the rows of a repository or project go by its new keys. columns are
// those besides these.
func moveRows(ctx context.Context, tx *db.Tx, what, table, columns, onConflict string, by notify.KeyChange) error {
	from, to := by.From.Folded(), by.To.Folded()
	const where = ` WHERE connection = $1 AND project_fold = $2 AND ($3 = '' OR repository_fold = $3)`
	if err := tx.Do(ctx, what, `INSERT INTO `+table+` (connection, project_fold, repository_fold, `+columns+`)
		SELECT connection, $4, CASE WHEN $5 = '' THEN repository_fold ELSE $5 END, `+columns+` FROM `+table+where+` `+onConflict,
		by.Connection, from.ProjectKey, from.RepositoryKey, to.ProjectKey, to.RepositoryKey); err != nil {
		return err
	}
	return tx.Do(ctx, what, `DELETE FROM `+table+where, by.Connection, from.ProjectKey, from.RepositoryKey)
}

// DeleteBuilds forgets builds of which nothing was told since a time; see
// retention.Rule.
func DeleteBuilds(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	return deleteOld(ctx, tx, "builds", "notify_builds", "connection, project_fold, repository_fold, hash, build_key", "seen_at", before,
		limit)
}

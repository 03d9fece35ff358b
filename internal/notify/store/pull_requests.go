package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// pullRequestKey is one of a cloud platform.
type pullRequestKey struct {
	connection string
	at         notify.RepositoryRef // folded
	number     int64
}

func keyOfTracked(e *notify.Event) pullRequestKey {
	at := notify.RepositoryRef{ProjectKey: e.Project.Key, RepositoryKey: e.Repository.Key}
	return pullRequestKey{e.Connection, at.Folded(), e.PullRequest.ID}
}

func (k pullRequestKey) args() []any {
	return []any{k.connection, k.at.ProjectKey, k.at.RepositoryKey, k.number}
}

func (k pullRequestKey) compare(o pullRequestKey) int {
	return cmp.Or(cmp.Compare(k.connection, o.connection), cmp.Compare(k.at.ProjectKey, o.at.ProjectKey),
		cmp.Compare(k.at.RepositoryKey, o.at.RepositoryKey), cmp.Compare(k.number, o.number))
}

// tracked are the webhooks of a batch that speak of pull requests whose platform
// does not say what an update changed.
type tracked []trackedReceipt

type trackedReceipt struct {
	receipt *notify.Receipt
	key     pullRequestKey
	now     notify.PullRequestState // as it is after the receipt
}

// settleTracked decides what happened to such pull requests, and matches the
// events again by that. Without one it asks nothing. Until the transaction ends,
// no other node decides about the same ones.
func (s *Store) settleTracked(ctx context.Context, tx *db.Tx, items []*notify.Receipt) (tracked, error) {
	var all tracked
	for _, r := range items {
		if e := r.PullRequestEvent(); e != nil {
			all = append(all, trackedReceipt{receipt: r, key: keyOfTracked(e)})
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	seen, err := lockPullRequests(ctx, tx, all)
	if err != nil {
		return nil, err
	}
	rules, err := s.load(ctx, tx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		t := &all[i]
		now, rematch := t.receipt.ResolvePullRequest(seen[t.key])
		t.now, seen[t.key] = now, now
		if !rematch {
			continue
		}
		t.receipt.Match(rules)
		if err := encode(t.receipt, new(bytes.Buffer)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

const pullRequestColumns = `number, source, target, title, description, draft, pushed, stood_at, seen_at`

// lockPullRequests returns what was seen of the pull requests. Those that no
// webhook has spoken of are inserted, since only what is there can be locked.
func lockPullRequests(ctx context.Context, tx *db.Tx, all tracked) (map[pullRequestKey]notify.PullRequestState, error) {
	keys := make([]pullRequestKey, len(all))
	for i := range all {
		keys[i] = all[i].key
	}
	slices.SortFunc(keys, pullRequestKey.compare) // in one order, so that no two nodes wait for each other
	keys = slices.Compact(keys)
	unknown, args := make([][]any, len(keys)), make([][]any, len(keys))
	for i, k := range keys {
		args[i], unknown[i] = k.args(), append(k.args(), db.Micros(tx.Now()))
	}
	if err := tx.Each(ctx, "noting pull requests", `INSERT INTO notify_pull_requests (connection, project_fold, repository_fold, `+
		pullRequestColumns+`)
		VALUES ($1, $2, $3, $4, '', '', '', '', 0, 0, 0, $5) ON CONFLICT DO NOTHING`, unknown, nil); err != nil {
		return nil, err
	}
	seen := make(map[pullRequestKey]notify.PullRequestState, len(keys))
	if err := tx.Each(ctx, "reading pull requests",
		`SELECT source, target, title, description, draft, pushed, stood_at FROM notify_pull_requests
		WHERE connection = $1 AND project_fold = $2 AND repository_fold = $3 AND number = $4`+tx.ForUpdate(), args,
		func(i int, row db.Row) error {
			var p notify.PullRequestState
			var draft, pushed int64
			if err := row.Scan(&p.Source, &p.Target, &p.Title, &p.Description, &draft, &pushed, db.At(&p.At)); err != nil {
				return err
			}
			p.Draft, p.Pushed = draft != 0, pushed != 0
			seen[keys[i]] = p
			return nil
		}); err != nil {
		return nil, err
	}
	return seen, nil
}

// write keeps what the webhooks that were written say of their pull requests.
func (all tracked) write(ctx context.Context, tx *db.Tx) error {
	var rows [][]any
	for i := range all {
		t := &all[i]
		if !t.receipt.Written() {
			continue
		}
		rows = append(rows, append(t.key.args(), t.now.Source, t.now.Target, t.now.Title, t.now.Description,
			db.Bit(t.now.Draft), db.Bit(t.now.Pushed), db.Micros(t.now.At), db.Micros(tx.Now())))
	}
	return tx.Each(ctx, "keeping pull requests", `UPDATE notify_pull_requests SET source = $5, target = $6, title = $7, description = $8,
			draft = $9, pushed = $10, stood_at = $11, seen_at = $12
		WHERE connection = $1 AND project_fold = $2 AND repository_fold = $3 AND number = $4`, rows, nil)
}

// movePullRequests has what is known of pull requests go by the new keys of their
// repository. Where one with the same number is known there, the later counts.
func movePullRequests(ctx context.Context, tx *db.Tx, by notify.KeyChange) error {
	return moveRows(ctx, tx, "moving pull requests", "notify_pull_requests", pullRequestColumns,
		`ON CONFLICT (connection, project_fold, repository_fold, number) DO UPDATE SET source = excluded.source, target = excluded.target,
			title = excluded.title, description = excluded.description, draft = excluded.draft, pushed = excluded.pushed,
			stood_at = excluded.stood_at, seen_at = excluded.seen_at WHERE notify_pull_requests.stood_at < excluded.stood_at`, by)
}

// DeletePullRequests forgets pull requests of which no webhook has spoken since a
// time; see retention.Rule.
func DeletePullRequests(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	return deleteOld(ctx, tx, "pull requests", "notify_pull_requests", "connection, project_fold, repository_fold, number", "seen_at",
		before, limit)
}

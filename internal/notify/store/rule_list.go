package store

import (
	"cmp"
	"context"
	"strings"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// levelConditions select a level by the keys that it has.
var levelConditions = map[notify.Level]string{
	"":                     `1 = 1`,
	notify.Global:          `r.project_fold = ''`,
	notify.ProjectLevel:    `r.project_fold <> '' AND r.repository_fold = ''`,
	notify.RepositoryLevel: `r.repository_fold <> ''`,
}

// maxRead is how many rows are read at once for a caller who may not see those
// of the first page, and maxPlacesRead how many of only a few columns: each reading
// sorts all there are.
const (
	maxRead       = 1000
	maxPlacesRead = 10_000
)

// readVisible reads rows behind one until so many of them are visible: the first time as many
// as are wanted, then maxRead at once.
func readVisible[T any](want int, after T, visible func(*T) bool, read func(after *T, limit int) ([]T, error)) (out []T, err error) {
	for limit := want; len(out) < want; limit = maxRead {
		rows, err := read(&after, limit)
		if err != nil {
			return nil, err
		}
		out = append(out, firstOf(rows, want-len(out), visible)...)
		if len(rows) < limit {
			break
		}
		after = rows[len(rows)-1]
	}
	return out, nil
}

// firstOf returns the first rows that are visible, at most limit.
func firstOf[T any](rows []T, limit int, visible func(*T) bool) (out []T) {
	for i := range rows {
		if len(out) < limit && visible(&rows[i]) {
			out = append(out, rows[i])
		}
	}
	return out
}

// PageRules returns one page of rules.
func (s *Store) PageRules(ctx context.Context, p notify.RulePage) (out []notify.RuleInfo, err error) {
	ids, err := s.visibleRules(ctx, p)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if out, err = readRuleInfos(ctx, tx, `r.id IN (`+list(ids)+`) ORDER BY r.name, r.id`); err != nil {
			return err
		}
		if err := countWaiting(ctx, tx, out, notify.MaxListed); err != nil {
			return err
		}
		if err := countOwnWaiting(ctx, tx, out, notify.MaxListed); err != nil {
			return err
		}
		return readLastMessages(ctx, tx, out)
	})
	return out, err
}

// readLastMessages reads the newest delivery of each rule. Each subquery takes
// the end of an index.
func readLastMessages(ctx context.Context, tx *db.Tx, rules []notify.RuleInfo) error {
	if len(rules) == 0 {
		return nil
	}
	at := make(map[int64]int)
	var ids []int64
	for i := range rules {
		at[rules[i].ID], ids = i, append(ids, rules[i].ID)
	}
	return tx.EachRow(ctx, "reading last messages", func(row db.Row) error {
		var rule, created, finished int64
		var state notify.DeliveryState
		if err := row.Scan(&rule, &state, &created, &finished); err != nil {
			return err
		}
		rules[at[rule]].Last = notify.LastMessage{State: state, At: db.Time(cmp.Or(finished, created))}
		return nil
	}, `SELECT r.id, d.state, d.created_at, d.finished_at FROM notify_rules r
		JOIN notify_deliveries d ON d.id = (
			SELECT max(id) AS newest FROM notify_deliveries WHERE rule_id = r.id
			UNION ALL SELECT max(delivery_id) FROM notify_delivery_rules WHERE rule_id = r.id
			ORDER BY newest DESC NULLS LAST LIMIT 1)
		WHERE r.id IN (`+list(ids)+`)`)
}

// visibleRules returns the ids of the rules of a page. Of rules that are passed over,
// only what decides that is read.
func (s *Store) visibleRules(ctx context.Context, p notify.RulePage) (ids []int64, err error) {
	for limit := p.Limit; len(ids) < p.Limit; limit = maxPlacesRead {
		read := 0
		err := s.db.Read(ctx, func(tx *db.Tx) error {
			where, args := ruleConditions(&p)
			return tx.EachRow(ctx, "reading the places of rules", func(row db.Row) error {
				var r notify.Rule
				err := row.Scan(&r.ID, &r.Name, &r.Connection, &r.ProjectKey, &r.RepositoryKey)
				if len(ids) < p.Limit && p.Visible(&r) {
					ids = append(ids, r.ID)
				}
				read++
				p.AfterName, p.AfterID = r.Name, r.ID
				return err
			}, `SELECT r.id, r.name, r.connection, r.project_key, r.repository_key FROM notify_rules r WHERE `+where+
				` AND (r.name > $7 OR (r.name = $7 AND r.id > $8)) ORDER BY r.name, r.id LIMIT $9`,
				append(args, clean(p.AfterName), p.AfterID, limit)...)
		})
		if err != nil || read < limit {
			return ids, err
		}
	}
	return ids, nil
}

// ruleConditions are those of all pages.
func ruleConditions(p *notify.RulePage) (string, []any) {
	return levelConditions[p.Level] + ` AND ($1 = '' OR r.project_fold = $1) AND ($2 = '' OR r.repository_fold = $2)
			AND ($3 = '' OR r.connection = $3) AND ($4 = '' OR LOWER(r.name) LIKE $5 ESCAPE '\')
			AND (r.channel_id = $6 OR $6 = 0)`,
		[]any{notify.Fold(clean(p.Project)), notify.Fold(clean(p.Repository)), clean(p.Connection), p.Search,
			containing(clean(p.Search)), p.Channel}
}

// containing is the pattern of LIKE for lower-case text that has search in it, as
// the databases' LOWER makes it of ASCII.
func containing(search string) string {
	search, _ = notify.Cut(search, notify.MaxName)
	lower := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, search)
	return contains(lower)
}

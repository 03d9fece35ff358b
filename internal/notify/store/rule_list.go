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

// maxRead is how many rules are read at once for a caller who may not see those
// of the first page: each reading sorts all of the level.
const maxRead = 1000

// PageRules returns one page of rules.
func (s *Store) PageRules(ctx context.Context, p notify.RulePage) ([]notify.RuleInfo, error) {
	var out []notify.RuleInfo
	for limit := p.Limit; len(out) < p.Limit; limit = maxRead {
		read, err := s.readRulePage(ctx, p, limit)
		if err != nil {
			return nil, err
		}
		for i := range read {
			if p.Visible(&read[i].Rule) && len(out) < p.Limit {
				out = append(out, read[i])
			}
		}
		if len(read) < limit {
			break
		}
		last := &read[len(read)-1]
		p.AfterName, p.AfterID = last.Name, last.ID
	}
	return out, s.db.Read(ctx, func(tx *db.Tx) error {
		if err := countWaiting(ctx, tx, out, notify.MaxListed); err != nil {
			return err
		}
		if err := countOwnWaiting(ctx, tx, out, notify.MaxListed); err != nil {
			return err
		}
		return readLastMessages(ctx, tx, out)
	})
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

func (s *Store) readRulePage(ctx context.Context, p notify.RulePage, limit int) ([]notify.RuleInfo, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) ([]notify.RuleInfo, error) {
		where, args := ruleConditions(&p)
		return readRuleInfos(ctx, tx, where+` AND (r.name > $6 OR (r.name = $6 AND r.id > $7)) ORDER BY r.name, r.id LIMIT $8`,
			append(args, clean(p.AfterName), p.AfterID, limit)...)
	})
}

// ruleConditions are those of all pages.
func ruleConditions(p *notify.RulePage) (string, []any) {
	return levelConditions[p.Level] + ` AND ($1 = '' OR r.project_fold = $1) AND ($2 = '' OR r.repository_fold = $2)
			AND ($3 = '' OR r.connection = $3) AND ($4 = '' OR LOWER(r.name) LIKE $5 ESCAPE '\')`,
		[]any{notify.Fold(clean(p.Project)), notify.Fold(clean(p.Repository)), clean(p.Connection), p.Search, containing(clean(p.Search))}
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
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(lower) + "%"
}

package notify

import (
	"context"

	"outrigger/internal/db"
)

// RulePage asks for rules of one level, whatever their keys, by name.
type RulePage struct {
	Level      Level
	Project    string // only this project's, compared without case; "" is every one
	Repository string
	AfterName  string // the last rule of the page before, by name and id
	AfterID    int64
	Limit      int
	Visible    func(*Rule) bool // rules that it refuses are passed over
}

// levelConditions select a level by the keys that it has.
var levelConditions = map[Level]string{
	Global:          `r.project_fold = ''`,
	ProjectLevel:    `r.project_fold <> '' AND r.repository_fold = ''`,
	RepositoryLevel: `r.repository_fold <> ''`,
}

// maxPassed is how many rules are read at once for somebody who may not see
// those of the first page: each reading sorts all of the level.
const maxPassed = 1000

// PageRules gives one page of rules.
func (s *Store) PageRules(ctx context.Context, p RulePage) ([]RuleInfo, error) {
	var out []RuleInfo
	for limit := p.Limit; len(out) < p.Limit; limit = maxPassed {
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
	return out, s.db.Read(ctx, func(tx *db.Tx) error { return countWaiting(ctx, tx, out) })
}

func (s *Store) readRulePage(ctx context.Context, p RulePage, limit int) (out []RuleInfo, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		out, err = readRuleInfos(ctx, tx, levelConditions[p.Level]+` AND ($1 = '' OR r.project_fold = $1)
			AND ($2 = '' OR r.repository_fold = $2) AND (r.name > $3 OR (r.name = $3 AND r.id > $4))
			ORDER BY r.name, r.id LIMIT $5`, Fold(clean(p.Project)), Fold(clean(p.Repository)), clean(p.AfterName), p.AfterID, limit)
		return err
	})
	return out, err
}

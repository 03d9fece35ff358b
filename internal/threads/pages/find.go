package pages

import (
	"context"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/identity"
)

// find finds issues of the target by number, where they were migrated, and by key, where
// the last comparison learned it.
func (p *Admin) find(ctx context.Context, query string) (found []console.Found, err error) {
	if !administers(identity.From(ctx)) {
		return nil, nil
	}
	add := func(id int64, label string) {
		number := strconv.FormatInt(id, 10)
		path := issuePath + console.Query("id", number)
		if len(found) < console.MaxFound && (len(found) == 0 || found[len(found)-1].Path != path) {
			found = append(found, console.Found{Kind: "Issue", Label: label, Where: "number " + number, Path: path})
		}
	}
	if id, err := strconv.ParseInt(strings.TrimPrefix(query, "#"), 10, 64); err == nil && id > 0 {
		m, err := p.Store.Map(ctx, id)
		if err != nil {
			return nil, err
		}
		if len(m) > 0 {
			add(id, "Threads of issue "+strconv.FormatInt(id, 10))
		}
		return found, nil
	}
	v, err := p.Verification(ctx)
	if err != nil || v == nil {
		return nil, err
	}
	key := strings.ToUpper(query)
	for _, d := range v.First {
		if strings.Contains(d.IssueKey, key) {
			add(d.CloudIssueID, d.IssueKey)
		}
	}
	for _, i := range v.Skipped {
		if strings.Contains(i.IssueKey, key) {
			add(i.CloudIssueID, i.IssueKey)
		}
	}
	return found, nil
}

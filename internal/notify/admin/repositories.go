package admin

import (
	"cmp"
	"context"
	"slices"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// RepositoryStore is where repositories are known from; *store.Store.
type RepositoryStore interface {
	Rules() *notify.RuleSet
	Platforms() *notify.Platforms
	PageReports(ctx context.Context, p notify.ReportPage) ([]notify.ReportInfo, error)
}

// Repositories knows which repositories there are, as far as something here is
// about them: a platform is not asked.
type Repositories struct {
	Store RepositoryStore
}

// maxKnown is how many repositories people are offered to choose from: of more
// they type the name.
const maxKnown = 200

// Administered returns the repositories that the caller administers and that have a
// report, an enabled rule, a hook, or permissions of their own: at most 200, in
// order.
func (s *Repositories) Administered(ctx context.Context) ([]identity.Resource, error) {
	who := identity.From(ctx)
	known := make(map[identity.Resource]identity.Resource) // as first seen, by what is the same in any case
	add := func(at identity.Resource) (enough bool) {
		if at.Repository != "" && who.May(identity.RepoAdmin, at) {
			folded := identity.Resource{Connection: at.Connection, Project: notify.Fold(at.Project), Repository: notify.Fold(at.Repository)}
			if _, seen := known[folded]; !seen {
				known[folded] = at
			}
		}
		return len(known) >= maxKnown
	}
	reports, err := s.Store.PageReports(ctx, notify.ReportPage{Limit: maxKnown,
		Visible: func(r *notify.Report) bool { return who.May(r.Access()) }})
	if err != nil {
		return nil, err
	}
	for i := range reports {
		_, at := reports[i].Access()
		add(at)
	}
	for _, g := range who.Grants {
		add(g.Resource)
	}
	platforms := s.Store.Platforms()
	for _, connection := range platforms.Connections.Names() {
		for _, h := range platforms.Hooks(connection) {
			add(identity.Resource{Connection: connection, Project: h.Scope.ProjectKey, Repository: h.Scope.RepositoryKey})
		}
	}
	s.Store.Rules().EachRepository(add)
	list := make([]identity.Resource, 0, len(known))
	for _, at := range known {
		list = append(list, at)
	}
	slices.SortFunc(list, func(a, b identity.Resource) int {
		return cmp.Or(cmp.Compare(a.Connection, b.Connection), cmp.Compare(notify.Fold(a.Project), notify.Fold(b.Project)),
			cmp.Compare(notify.Fold(a.Repository), notify.Fold(b.Repository)))
	})
	return list[:min(len(list), maxKnown)], nil
}

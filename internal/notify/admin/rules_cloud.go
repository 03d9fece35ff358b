package admin

import (
	"cmp"
	"context"
	"slices"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// Repository returns a repository of the cloud edition, on the connection that is
// named or the only one, to a caller who may have rules there.
func (s *Rules) Repository(ctx context.Context, q notify.RuleQuery) (notify.RuleQuery, error) {
	var wrong fault.Fields
	if q.ProjectKey == "" {
		wrong.Add("workspace", "Enter the slug of the workspace.")
	}
	if q.RepositoryKey == "" {
		wrong.Add("repository", "Enter the slug of the repository.")
	}
	notify.ValidateKey(&wrong, "workspace", q.ProjectKey)
	notify.ValidateKey(&wrong, "repository", q.RepositoryKey)
	name, err := s.Connections(notify.Cloud).Resolve(q.Connection)
	if err := wrong.Join(err); err != nil {
		return q, err
	}
	if err := wrong.Err(); err != nil {
		return q, err
	}
	q.Connection = name
	return q, identity.Require(ctx, identity.RepoAdmin, identity.Resource{Connection: name, Project: q.ProjectKey,
		Repository: q.RepositoryKey})
}

// CloudRepositories lists the repositories of the cloud edition that the caller
// administers, in the order of their slugs, after one: those that have rules or
// a hook, and those that the caller has a permission of.
func (s *Rules) CloudRepositories(ctx context.Context, after notify.RuleQuery, limit int) ([]notify.CloudRepository, error) {
	who := identity.From(ctx)
	connections := s.Connections(notify.Cloud).Names()
	p := notify.CloudRepositoryPage{
		Connections: connections, Limit: limit,
		After:   notify.CloudRepository{Connection: after.Connection, Workspace: after.ProjectKey, Repository: after.RepositoryKey},
		Visible: func(r *notify.CloudRepository) bool { return who.May(identity.RepoAdmin, r.Resource()) },
	}
	found, err := s.Store.CloudRepositories(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, one := range s.withoutRules(who, connections) {
		if notify.CompareRepositories(one, p.After) > 0 && p.Visible(&one) {
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, notify.CompareRepositories)
	return merged(found, limit), nil
}

// maxUnauthorized is how many repositories the overview names.
const maxUnauthorized = 10

// Unauthorized returns repositories that the caller administers, with rules whose
// account another user has to authorise again: at most 10.
func (s *Rules) Unauthorized(ctx context.Context) ([]notify.CloudRepository, error) {
	who := identity.From(ctx)
	return s.Store.UnauthorizedRepositories(ctx, who.UserID, maxUnauthorized,
		func(r *notify.CloudRepository) bool { return who.May(identity.RepoAdmin, r.Resource()) })
}

// withoutRules are the repositories that hooks and permissions name.
func (s *Rules) withoutRules(who *identity.Principal, connections []string) (list []notify.CloudRepository) {
	for _, name := range connections {
		for _, h := range s.Store.Platforms().Hooks(name) {
			if h.Scope.RepositoryKey != "" {
				list = append(list, notify.CloudRepository{Connection: name, Workspace: h.Scope.ProjectKey, Repository: h.Scope.RepositoryKey,
					Hook: true})
			}
		}
	}
	for _, g := range who.Grants {
		if at := g.Resource; at.Repository != "" && slices.Contains(connections, at.Connection) {
			list = append(list, notify.CloudRepository{Connection: at.Connection, Workspace: at.Project, Repository: at.Repository})
		}
	}
	return list
}

// merged are the first of a sorted list, each once.
func merged(sorted []notify.CloudRepository, limit int) (list []notify.CloudRepository) {
	for _, one := range sorted {
		switch last := len(list) - 1; {
		case last >= 0 && notify.CompareRepositories(list[last], one) == 0:
			list[last].Hook = list[last].Hook || one.Hook
		case len(list) == limit:
			return list
		default:
			list = append(list, one)
		}
	}
	return list
}

// completeCloud adds to a draft what every rule of the cloud edition has, where it
// is one.
func (s *Rules) completeCloud(draft *notify.Rule) {
	if s.Edition(draft.Connection) == notify.Cloud {
		draft.Enabled = true
		draft.ExpectedCommitStatus = cmp.Or(draft.ExpectedCommitStatus, notify.StatusBoth)
	}
}

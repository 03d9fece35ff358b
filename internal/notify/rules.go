package notify

import (
	"context"
	"errors"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// Rules is what people do with rules, each with its permission: the REST API
// and the console both go through it.
type Rules struct {
	Store *Store
	// CheckURL judges a webhook URL as far as that can be done without
	// dialling: fault.Invalid, or nil.
	CheckURL func(string) error
}

// Access is the permission that a rule of this level needs, and where.
func (r *Rule) Access() (identity.Permission, identity.Where) {
	switch r.Level() {
	case RepositoryLevel:
		return identity.RepoAdmin, identity.Where{Connection: r.Connection, Project: r.ProjectKey, Repository: r.RepositoryKey}
	case ProjectLevel:
		return identity.ProjectAdmin, identity.Where{Connection: r.Connection, Project: r.ProjectKey}
	}
	return identity.Admin, identity.Where{}
}

func (s *Rules) require(ctx context.Context, r *Rule) error {
	perm, at := r.Access()
	return rest.Require(ctx, perm, at)
}

// List gives the rules of the level that q's keys name: fault.Forbidden for
// who does not administer it.
func (s *Rules) List(ctx context.Context, q RuleQuery) ([]RuleInfo, error) {
	of := Rule{Connection: q.Connection, ProjectKey: q.ProjectKey, RepositoryKey: q.RepositoryKey}
	if q.ProjectKey == "" && q.RepositoryKey != "" {
		return nil, oneField("projectKey", "A repositoryKey needs its projectKey too.")
	}
	if of.Level() != Global {
		name, err := s.Store.Platforms().Connections.Resolve(q.Connection)
		if err != nil {
			return nil, err
		}
		of.Connection, q.Connection = name, name
	}
	if err := s.require(ctx, &of); err != nil {
		return nil, err
	}
	return s.Store.ListRules(ctx, q)
}

// Get gives one rule: fault.NotFound, or for anybody but a SYS_ADMIN the
// fault.Forbidden that a foreign rule gets.
func (s *Rules) Get(ctx context.Context, id int64) (RuleInfo, error) {
	info, err := s.Store.Rule(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return info, rest.Missing(ctx, "There is no rule with id %d.", id)
	}
	if err != nil {
		return info, err
	}
	return info, s.require(ctx, &info.Rule)
}

// Save creates a rule (ID 0) or saves one; see Store.SaveRule for the errors.
func (s *Rules) Save(ctx context.Context, draft Rule, webhookURL string) (RuleInfo, error) {
	draft = draft.trimmed()
	if draft.ID != 0 {
		stored, err := s.Get(ctx, draft.ID)
		if err != nil {
			return RuleInfo{}, err
		}
		if draft.Connection == "" {
			draft.Connection = stored.Connection
		}
	} else {
		if draft.ProjectKey == "" && draft.RepositoryKey != "" {
			return RuleInfo{}, oneField("repositoryKey", "A repository needs its projectKey too.")
		}
		name, err := s.Store.Platforms().Connections.Resolve(draft.Connection)
		if err != nil {
			return RuleInfo{}, err
		}
		draft.Connection = name
		if err := s.require(ctx, &draft); err != nil {
			return RuleInfo{}, err
		}
	}
	webhookURL = strings.TrimSpace(webhookURL)
	if err := s.checkAll(&draft, webhookURL); err != nil {
		return RuleInfo{}, err
	}
	return s.Store.SaveRule(ctx, actor(ctx), draft, webhookURL)
}

// checkAll names what is wrong with the members, with what the rule's platform
// never sends, and with the URL, together.
func (s *Rules) checkAll(draft *Rule, webhookURL string) error {
	var all fault.Fields
	var e *fault.Error
	if errors.As(draft.Validate(), &e) {
		all = e.Fields
	}
	if c := s.Store.Platforms().Connections.Find(draft.Connection); c != nil {
		draft.validateEdition(&all, c.Edition())
	}
	if webhookURL != "" && !isMask(webhookURL) {
		if err := s.CheckURL(webhookURL); err != nil {
			all.Add("webhookUrl", "%s", fault.As(err).Message)
		}
	}
	return all.Err()
}

// Delete deletes a rule; who may, as for Get.
func (s *Rules) Delete(ctx context.Context, id int64) error {
	if _, err := s.Get(ctx, id); err != nil {
		return err
	}
	return s.Store.DeleteRule(ctx, actor(ctx), id)
}

// actor is who asks, for the audit trail.
func actor(ctx context.Context) Actor {
	a := Actor{Address: identity.OriginOf(ctx).Address, RequestID: identity.OriginOf(ctx).RequestID}
	if p := identity.From(ctx); p != nil {
		a.Name, a.Source = p.Name, p.Source
	}
	return a
}

package admin

import (
	"context"
	"slices"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
)

// Rules has the operations on rules, each with its permission check: the REST
// API and the console both go through it.
type Rules struct {
	Store *store.Store
	// CheckURL judges a webhook URL as far as that can be done without
	// dialling: fault.Invalid, or nil.
	CheckURL func(string) error
	// CautionURL asks the network about a webhook URL that may be saved: what
	// is to be said about its host, or "".
	CautionURL func(ctx context.Context, url string) string
	Tests      *TestMessages
	// Saved is told that a rule of the cloud edition was saved, deleted, or switched
	// on with another account; nil: nothing is.
	Saved func()
	// Accounts says with which account a rule of the cloud edition is saved.
	Accounts notify.CloudAccounts
}

// List returns the rules of the level that q's keys name: fault.Forbidden for
// who does not administer it.
func (s *Rules) List(ctx context.Context, q notify.RuleQuery) ([]notify.RuleInfo, error) {
	of := notify.Rule{Connection: q.Connection, ProjectKey: q.ProjectKey, RepositoryKey: q.RepositoryKey}
	if q.ProjectKey == "" && q.RepositoryKey != "" {
		return nil, fault.InvalidField("projectKey", "A repositoryKey needs its projectKey too.")
	}
	if of.Level() != notify.Global {
		name, err := s.Store.Platforms().Connections.Resolve(q.Connection)
		if err != nil {
			return nil, err
		}
		of.Connection, q.Connection = name, name
	}
	if err := identity.From(ctx).Require(of.Access()); err != nil {
		return nil, err
	}
	list, err := s.Store.ListRules(ctx, q)
	return forReader(ctx, list), err
}

// Page returns one page of the rules of a level that the caller administers.
func (s *Rules) Page(ctx context.Context, p notify.RulePage) ([]notify.RuleInfo, error) {
	p.Visible = s.visible(ctx, p.Edition)
	list, err := s.Store.PageRules(ctx, p)
	return forReader(ctx, list), err
}

// visible reports which rules of an edition, or of both, the caller may see.
func (s *Rules) visible(ctx context.Context, edition notify.Edition) func(*notify.Rule) bool {
	who := identity.From(ctx)
	return func(r *notify.Rule) bool {
		return (edition == "" || s.Edition(r.Connection) == edition) && who.May(r.Access())
	}
}

// Connections are those of an edition, by name.
func (s *Rules) Connections(e notify.Edition) notify.Connections {
	return s.Store.Platforms().Connections.Of(e)
}

// Edition is that of a connection; SelfHosted where there is none of the name.
func (s *Rules) Edition(connection string) notify.Edition {
	if c := s.Store.Platforms().Connections.Find(connection); c != nil {
		return c.Edition()
	}
	return notify.SelfHosted
}

// Get returns one rule: fault.NotFound for a SYS_ADMIN, else fault.Forbidden as
// for a rule of others.
func (s *Rules) Get(ctx context.Context, id int64) (notify.RuleInfo, error) {
	info, err := s.Store.Rule(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return info, identity.Missing(ctx, "There is no rule with id %d.", id)
	}
	if err != nil {
		return info, err
	}
	info.Show(notify.ReadsInside(ctx))
	return info, identity.From(ctx).Require(info.Rule.Access())
}

// Save creates a rule (ID 0) or saves one; see store.Store for the errors. One of
// the cloud edition is enabled by that, and needs an account; see CloudAccounts
// for the errors. wrong is what the caller has found in the members already: all
// of it is named together.
func (s *Rules) Save(ctx context.Context, draft notify.Rule, webhookURL string, wrong fault.Fields) (notify.RuleInfo, error) {
	draft = draft.Trimmed()
	at, own := draft.At(), notify.Channel{}
	if draft.ID > 0 {
		stored, err := s.Get(ctx, draft.ID)
		if err != nil {
			return notify.RuleInfo{}, err
		}
		if draft.Connection == "" {
			draft.Connection = stored.Connection
		}
		at, own = stored.At(), stored.Channel
	} else if err := s.place(ctx, &draft, &wrong); err != nil {
		return notify.RuleInfo{}, err
	}
	s.completeCloud(&draft)
	var err error
	draft.ChannelID, webhookURL, err = chosen(ctx, s.Store, draft.Choice, &own, webhookURL)
	if err := wrong.Join(err); err != nil {
		return notify.RuleInfo{}, err
	}
	if err := s.checkAll(&draft, webhookURL, wrong); err != nil {
		return notify.RuleInfo{}, err
	}
	if draft.OfCloud() {
		if draft.AuthorizationID, err = s.Accounts.Administering(ctx, draft.Connection, at); err != nil {
			return notify.RuleInfo{}, err
		}
	}
	saved, err := s.Store.SaveRule(ctx, actor(ctx), draft, webhookURL)
	saved.Show(notify.ReadsInside(ctx))
	if err == nil {
		s.Caution(ctx, &saved)
	}
	if err == nil && draft.OfCloud() && s.Saved != nil {
		s.Saved()
	}
	return saved, err
}

// Caution finds out what is to be said about a rule's webhook URL. It waits for
// the name server, for a moment, and is for one rule at a time.
func (s *Rules) Caution(ctx context.Context, info *notify.RuleInfo) {
	info.Caution = s.CautionURL(ctx, info.Channel.Mask) // which has the host in full
}

// NoCloudProjects says why there are no rules of the cloud edition for projects.
const NoCloudProjects = "Rules of the cloud edition belong to one repository: the cloud platform offers no integration points for " +
	"projects and workspaces. Name the repository too."

// placeFields are the members that say which rule it is and where it belongs.
var placeFields = []string{"id", "connection", "projectKey", "repositoryKey", "repositorySlug"}

// place finds where a new rule belongs, and reports whether the caller may have one
// there. A place that is wrong in itself is not checked for permission.
func (s *Rules) place(ctx context.Context, draft *notify.Rule, wrong *fault.Fields) error {
	if draft.ProjectKey == "" && draft.RepositoryKey != "" {
		wrong.Add("repositoryKey", "A repository needs its projectKey too.")
	}
	if !slices.ContainsFunc(*wrong, func(f fault.Field) bool { return f.Name == "connection" }) {
		name, err := s.Store.Platforms().Connections.Resolve(draft.Connection)
		if err := wrong.Join(err); err != nil {
			return err
		}
		draft.Connection = name
	}
	if s.Edition(draft.Connection) == notify.Cloud && draft.RepositoryKey == "" {
		wrong.Add("repositoryKey", NoCloudProjects)
	}
	if slices.ContainsFunc(*wrong, func(f fault.Field) bool { return slices.Contains(placeFields, f.Name) }) {
		return nil
	}
	return identity.From(ctx).Require(draft.Access())
}

// checkAll names what is wrong with the members, with what the rule's platform
// never sends, and with the URL, together.
func (s *Rules) checkAll(draft *notify.Rule, webhookURL string, wrong fault.Fields) error {
	if err := s.checkMembers(draft, &wrong); err != nil {
		return err
	}
	if err := wrong.Join(checkURL(s.CheckURL, webhookURL, "rule", draft.ID, draft.ChannelID)); err != nil {
		return err
	}
	return wrong.Err()
}

// checkMembers notes in wrong what is wrong with the members; the error is of
// another kind.
func (s *Rules) checkMembers(draft *notify.Rule, wrong *fault.Fields) error {
	if err := wrong.Join(draft.Validate()); err != nil {
		return err
	}
	if c := s.Store.Platforms().Connections.Find(draft.Connection); c != nil {
		draft.ValidateEdition(wrong, c.Edition())
		draft.ValidateGroups(wrong, c)
	}
	return nil
}

// Enable switches a rule on or off; the permissions are those of Get. To switch on one of the
// cloud edition is to save it, and so needs an account, to which the rule belongs
// from then on; see CloudAccounts for the errors. fault.Conflict: the rule is not at
// the version any more; 0 is any.
func (s *Rules) Enable(ctx context.Context, id, version int64, enabled bool) (notify.RuleInfo, error) {
	info, err := s.Get(ctx, id)
	if err != nil {
		return info, err
	}
	account := info.AuthorizationID
	if enabled && !info.Enabled && s.Edition(info.Connection) == notify.Cloud {
		if account, err = s.Accounts.Administering(ctx, info.Connection, info.At()); err != nil {
			return info, err
		}
	}
	saved, err := s.Store.EnableRule(ctx, actor(ctx), id, version, enabled, account)
	saved.Show(notify.ReadsInside(ctx))
	if err == nil && account != info.AuthorizationID && s.Saved != nil {
		s.Saved()
	}
	return saved, err
}

// Delete deletes a rule; the permissions are those of Get, and the version as for Enable.
func (s *Rules) Delete(ctx context.Context, id, version int64) error {
	info, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	err = s.Store.DeleteRule(ctx, actor(ctx), id, version)
	if err == nil && info.OfCloud() && s.Saved != nil {
		s.Saved()
	}
	return err
}

// Twin returns another rule of the same place that takes the same events and sends
// them to the same channel in the same way; nil where there is none. Names and
// whether the rules are enabled do not count.
func (s *Rules) Twin(ctx context.Context, of *notify.RuleInfo) (*notify.RuleInfo, error) {
	list, err := s.Store.ListRules(ctx, notify.RuleQuery{Connection: of.Connection, ProjectKey: of.ProjectKey,
		RepositoryKey: of.RepositoryKey})
	if err != nil {
		return nil, err
	}
	for i := range list {
		if other := &list[i]; other.ID != of.ID && other.DoesTheSame(&of.Rule) {
			return other, nil
		}
	}
	return nil, nil
}

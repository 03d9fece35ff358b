package admin

import (
	"context"

	"outrigger/internal/notify"
)

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

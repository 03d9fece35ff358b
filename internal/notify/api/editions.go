package api

import (
	"context"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// rulesPaths are where the rules of each edition are.
var rulesPaths = map[notify.Edition]string{
	notify.SelfHosted: basePath + "/filter",
	notify.Cloud:      cloudPath + "/{workspace}/{repository}/rules",
}

// connectionOf returns the name of the connection of an edition that is meant: the
// one given, or the only one.
func (a *API) connectionOf(of notify.Edition, name string) (string, error) {
	all := a.Rules.Connections(of)
	other := notify.Cloud
	if of == notify.Cloud {
		other = notify.SelfHosted
	}
	switch others := a.Rules.Connections(other); {
	case others.Find(name) != nil:
		return "", fault.InvalidField("connection", "%s is of the %s edition, whose rules are at %s.", name, other, rulesPaths[other])
	case len(all) == 0 && len(others) > 0:
		return "", fault.InvalidField("connection",
			"There is no connection of the %s edition. Rules of the %s edition are at %s.", of, other, rulesPaths[other])
	}
	return all.Resolve(name)
}

// filter returns a rule of the self-hosted edition.
func (a *API) filter(ctx context.Context, id int64) (notify.RuleInfo, error) {
	info, err := a.Rules.Get(ctx, id)
	if err == nil && a.Rules.Edition(info.Connection) == notify.Cloud {
		err = fault.InvalidField("id", "Rule %d is of the cloud edition; it is at %s.", id, cloudRulePath(&info))
	}
	return info, err
}

// selfHosted holds a draft to the self-hosted edition. What is wrong with a new
// rule's connection is noted.
func (a *API) selfHosted(ctx context.Context, draft notify.Rule, wrong *fault.Fields) (notify.Rule, error) {
	if draft.ID > 0 {
		_, err := a.filter(ctx, draft.ID)
		return draft, err
	}
	name, err := a.connectionOf(notify.SelfHosted, draft.Connection)
	if err == nil {
		draft.Connection = name
	}
	return draft, wrong.Join(err)
}

// cloudRule returns a rule of a repository of the cloud edition. One of another
// repository is answered as one that is not there.
func (a *API) cloudRule(ctx context.Context, at notify.RuleQuery, id int64) (notify.RuleInfo, error) {
	info, err := a.Rules.Get(ctx, id)
	if err != nil {
		return info, err
	}
	is := notify.RepositoryRef{ProjectKey: info.ProjectKey, RepositoryKey: info.RepositoryKey}
	asked := notify.RepositoryRef{ProjectKey: at.ProjectKey, RepositoryKey: at.RepositoryKey}
	if info.Connection != at.Connection || is.Folded() != asked.Folded() {
		return info, identity.Missing(ctx, "%s/%s has no rule with id %d.", at.ProjectKey, at.RepositoryKey, id)
	}
	return info, nil
}

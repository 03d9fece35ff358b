package api

import (
	"context"
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/rest"
)

// cloudPath is what is of the cloud edition.
const cloudPath = "/rest/mtbs/1.0/cloud"

// cloudPlace is whose rules are meant.
type cloudPlace struct {
	AtWorkspace  string `path:"workspace" json:"-" doc:"The workspace's slug." example:"atlas"`
	AtRepository string `path:"repository" json:"-" doc:"The repository's slug." example:"engine"`
	AtConnection string `query:"connection" json:"-" doc:"Which platform of the cloud edition; not needed when there is only one."`
}

// CloudRules are the rules of a repository, or one of them.
type CloudRules struct {
	rest.AnyOf
	All []CloudRule
	One *CloudRule
}

type listCloudRules struct {
	cloudPlace
	ID    *ruleID      `query:"id" min:"1" doc:"Gives only the rule with this id."`
	Wrong fault.Fields `json:"-"`
}

type deleteCloudRule struct {
	cloudPlace
	ID    ruleID       `query:"id" required:"true" min:"1" example:"1" doc:"The rule's id."`
	Match rest.Match   `json:"-"`
	Wrong fault.Fields `json:"-"`
}

type enableCloudRule struct {
	cloudPlace
	ID      ruleID       `query:"id" json:"-" required:"true" min:"1" example:"1" doc:"The rule's id."`
	Enabled enabling     `query:"enabled" json:"-" required:"true" example:"false" doc:"true switches the rule on, false off."`
	Match   rest.Match   `json:"-"`
	Wrong   fault.Fields `json:"-"`
}

// cloudDraft is a rule that need not be saved.
type cloudDraft struct {
	cloudPlace
	CloudRule `requires:""`
	Wrong     fault.Fields `json:"-"`
}

type saveCloudRule struct {
	cloudDraft `requires:"name,expectedEvents"`
	Match      rest.Match `json:"-"`
}

func (a *API) registerCloudRules(r *rest.Router) {
	path := rulesPaths[notify.Cloud]
	rest.Add(r, rest.Route{Method: "GET", Path: path}, rest.Words{
		ID: "listCloudRules", Tag: "rules", Summary: "Lists the rules of a repository of the cloud edition, or returns one of them.",
		Text: "Ordered by name; with `id` that rule itself. Needs `REPO_ADMIN` of the repository (`project` of a permission is the " +
			"workspace). There are rules of repositories only: the cloud platform offers no integration points for projects.",
		Answer: "The rules as an array; with `id` the rule itself, and its `ETag`.", Headers: []string{"ETag"},
		Refused: []int{http.StatusForbidden},
	}, a.listCloudRules, []rest.Example[listCloudRules, rest.Answer[CloudRules]]{
		{Name: "builds", Out: &rest.Answer[CloudRules]{Body: CloudRules{One: &exampleCloudRule}}}, {Name: "fresh", Err: noCloud},
	}...)
	rest.Add(r, rest.Route{Method: "POST", Path: path}, rest.Words{
		ID: "saveCloudRule", Tag: "rules", Summary: "Creates or saves a rule of a repository of the cloud edition, and enables it.",
		Text: "`id` 0 or absent creates a rule; else it saves that rule, and members that are left out get their defaults, but for " +
			"`webhookUrl`, which stays. Needs `REPO_ADMIN` of the repository, and an account of the cloud platform that administers it, with " +
			"which the user has authorised Outrigger (else 403, which says where to do so). The rule is that account's from then on.\n\n" +
			"A save enables the rule: `enabled` `false` is 400. To switch a rule off, use `" + path + "/enabled`.\n\n" + overwritesNothing,
		Answer: "The rule was saved.", Headers: []string{"ETag"},
		Also:    []rest.Success{{Status: http.StatusCreated, Text: "The rule was created.", Headers: []string{"Location", "ETag"}}},
		Refused: []int{http.StatusForbidden, http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable},
	}, a.saveCloudRule,
		rest.Example[saveCloudRule, rest.Answer[CloudRule]]{Name: "failures", In: saveCloudRule{cloudDraft: exampleCloudDraft}, Err: noCloud})
	rest.Add(r, rest.Route{Method: "DELETE", Path: path}, rest.Words{
		ID: "deleteCloudRule", Tag: "rules", Summary: "Deletes a rule of a repository of the cloud edition.", Answer: "The rule is deleted.",
		Text:    "Needs `REPO_ADMIN` of the repository, and no account. What waits for this rule alone is cancelled.",
		Refused: []int{http.StatusForbidden},
	}, rest.Done(a.deleteCloudRule), rest.Example[deleteCloudRule, rest.None]{Name: "fresh", Err: noCloud})
	rest.Add(r, rest.Route{Method: "PUT", Path: path + "/enabled"}, rest.Words{
		ID: "enableCloudRule", Tag: "rules", Summary: "Switches a rule of a repository of the cloud edition on or off.",
		Answer: "The rule as it is now.",
		Text: "Needs `REPO_ADMIN` of the repository. Switching a rule on also needs an authorised account that administers the repository, as " +
			"saving does; the rule belongs to that account then. What waits for a rule that is switched off, and for no other, is cancelled.",
		Headers: []string{"ETag"}, Refused: []int{http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable},
	}, a.enableCloudRule, rest.Example[enableCloudRule, rest.Answer[CloudRule]]{Name: "fresh", Err: noCloud})
	a.registerCloudTrials(r)
	for _, op := range []struct{ method, id string }{
		{"GET", "listRulesOfWorkspace"}, {"POST", "saveRulesOfWorkspace"}, {"DELETE", "deleteRulesOfWorkspace"},
	} {
		rest.Handle[cloudWorkspace, rest.None](r, rest.Route{Method: op.method, Path: cloudPath + "/{workspace}/rules"}, rest.Words{
			ID: op.id, Tag: "rules", Summary: "Is refused, since rules of the cloud edition belong to repositories.",
			Text:       "The cloud platform offers no integration points for projects and workspaces.",
			Status:     http.StatusBadRequest,
			RefusedFor: map[int]string{http.StatusBadRequest: "There are no rules of projects in the cloud edition."},
		}, func(http.ResponseWriter, *http.Request) error { return errNoProjects() },
			rest.Example[cloudWorkspace, rest.None]{Name: "fresh", Err: errNoProjects()})
	}
}

func errNoProjects() error { return fault.InvalidField("repository", "%s", admin.NoCloudProjects) }

// cloudWorkspace is what a request about a workspace names.
type cloudWorkspace struct {
	Workspace  string `path:"workspace" doc:"The workspace's slug." example:"atlas"`
	Connection string `query:"connection" doc:"Has no effect: the request is refused whatever it says."`
	ID         int64  `query:"id" min:"1" doc:"Has no effect: the request is refused whatever it says."`
}

// repositoryOf returns the repository that is meant.
func (a *API) repositoryOf(at cloudPlace) (notify.RuleQuery, error) {
	name, err := a.connectionOf(notify.Cloud, at.AtConnection)
	return notify.RuleQuery{Connection: name, ProjectKey: at.AtWorkspace, RepositoryKey: at.AtRepository}, err
}

func (a *API) listCloudRules(ctx context.Context, in listCloudRules) (out rest.Answer[CloudRules], err error) {
	if in.ID != nil {
		info, err := a.findCloudRule(ctx, in.cloudPlace, *in.ID, in.Wrong)
		if err != nil {
			return out, err
		}
		one := a.cloudRuleOf(ctx, &info)
		out.Body.One, out.ETag = &one, etagOf(&info)
		return out, nil
	}
	at, err := a.repositoryOf(in.cloudPlace)
	if err != nil {
		return out, err
	}
	rules, err := a.Rules.List(ctx, at)
	out.Body.All = rest.Each(rules, func(info notify.RuleInfo) CloudRule { return a.cloudRuleOf(ctx, &info) })
	return out, err
}

// readCloudRule makes a draft of what was read, and notes what is wrong with its
// members, under the names that the rule's own validation has for them.
func (a *API) readCloudRule(ctx context.Context, in *cloudDraft) (draft notify.Rule, err error) {
	for i := range in.Wrong {
		for member, name := range cloudNames {
			if in.Wrong[i].Name == name {
				in.Wrong[i].Name = member
			}
		}
	}
	at, wrongPlace := a.repositoryOf(in.cloudPlace)
	if err := in.Wrong.Join(wrongPlace); err != nil {
		return draft, err
	}
	if draft = in.rule(at, &in.Wrong); draft.ID > 0 && wrongPlace == nil {
		_, err = a.cloudRule(ctx, at, draft.ID)
	}
	return draft, err
}

func (a *API) saveCloudRule(ctx context.Context, in saveCloudRule) (out rest.Answer[CloudRule], err error) {
	draft, err := a.readCloudRule(ctx, &in.cloudDraft)
	if err != nil {
		return out, err
	}
	info, err := held(in.Match, draft.Version, a.ruleNow(ctx, draft.ID), func(version int64) (notify.RuleInfo, error) {
		draft.Version = version
		return a.Rules.Save(ctx, draft, in.WebhookURL, in.Wrong)
	})
	if err != nil {
		return out, withAccounts(ctx, inCloudNames(err))
	}
	out.Body, out.ETag = a.cloudRuleOf(ctx, &info), etagOf(&info)
	if draft.ID == 0 {
		out.Status, out.Location = http.StatusCreated, rest.Link(ctx, cloudRulePath(&info))
	}
	return out, nil
}

// findCloudRule returns a rule of the repository that is meant. wrong is what is wrong
// with the query: an id is 0 then.
func (a *API) findCloudRule(ctx context.Context, of cloudPlace, id ruleID, wrong fault.Fields) (notify.RuleInfo, error) {
	at, err := a.repositoryOf(of)
	if err != nil || id == 0 {
		return notify.RuleInfo{}, fault.Every(err, wrong.Err())
	}
	info, err := a.cloudRule(ctx, at, int64(id))
	return info, fault.Every(err, wrong.Err())
}

func (a *API) deleteCloudRule(ctx context.Context, in deleteCloudRule) error {
	info, err := a.findCloudRule(ctx, in.cloudPlace, in.ID, in.Wrong)
	if err != nil {
		return err
	}
	return heldDo(in.Match, a.ruleNow(ctx, info.ID), func(version int64) error { return a.Rules.Delete(ctx, info.ID, version) })
}

func (a *API) enableCloudRule(ctx context.Context, in enableCloudRule) (out rest.Answer[CloudRule], err error) {
	info, err := a.findCloudRule(ctx, in.cloudPlace, in.ID, in.Wrong)
	if err != nil {
		return out, err
	}
	saved, err := a.enable(ctx, in.Match, info.ID, in.Enabled)
	return rest.Answer[CloudRule]{Body: a.cloudRuleOf(ctx, &saved), ETag: etagOf(&saved)}, withAccounts(ctx, err)
}

package api

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

const filterPath = basePath + "/filter"

// Rules are the rules of a level, or one rule.
type Rules struct {
	rest.AnyOf
	All []Rule
	One *Rule
}

type listRules struct {
	ProjectKey     string  `query:"projectKey" doc:"Compared without case."`
	RepositoryKey  string  `query:"repositoryKey" doc:"Compared without case; needs projectKey."`
	RepositorySlug string  `query:"repositorySlug" doc:"Another name of repositoryKey."`
	Connection     string  `query:"connection" doc:"Which platform; not needed when there is only one."`
	ID             *ruleID `query:"id" min:"1" doc:"Gives only the rule with this id."`
}

type saveRule struct {
	ruleDraft `requires:"name,eventTypes"`
	Match     rest.Match `json:"-"`
}

type deleteRule struct {
	ID             ruleID     `query:"id" required:"true" min:"1" example:"1" doc:"The rule's id."`
	ProjectKey     string     `query:"projectKey" doc:"The rule's own, or 400; so are the next three."`
	RepositoryKey  string     `query:"repositoryKey" doc:"Needs projectKey."`
	RepositorySlug string     `query:"repositorySlug" doc:"Another name of repositoryKey."`
	Connection     string     `query:"connection" doc:"The rule's connection."`
	Match          rest.Match `json:"-"`
}

type enableRule struct {
	ID      ruleID     `query:"id" required:"true" min:"1" example:"1" doc:"The rule's id."`
	Enabled enabling   `query:"enabled" required:"true" example:"false" doc:"true switches the rule on, false off."`
	Match   rest.Match `json:"-"`
}

func (a *API) registerFilters(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: filterPath}, rest.Words{
		ID: "listRules", Tag: "rules", Summary: "Lists the rules of one level, or returns one rule.",
		Text: "Without keys the global rules (`ADMIN`), with `projectKey` that project's (its administrators), with both that " +
			"repository's (its administrators), ordered by name. With `id` that rule itself, for users who administer its level.",
		Answer:  "The rules as an array; with `id` the rule itself, and its `ETag`.",
		Headers: []string{"ETag"}, Refused: []int{http.StatusForbidden, http.StatusNotFound},
	}, a.listFilters, rest.Example[listRules, rest.Answer[Rules]]{
		Name: "global", Out: &rest.Answer[Rules]{Body: Rules{All: exampleList()}},
	})
	rest.Add(r, rest.Route{Method: "POST", Path: filterPath}, rest.Words{
		ID: "saveRule", Tag: "rules", Summary: "Creates or saves a rule.",
		Text: "`id` 0 or absent creates a rule; else it saves that rule, and members that are left out get their defaults, but for " +
			"`webhookUrl`, `connection`, `projectKey` and `repositoryKey`, which stay. Needs the permission of the rule's level.\n\n" +
			"A rule that is saved holds for every event that is acknowledged after the answer, on every node.\n\n" + overwritesNothing,
		Answer: "The rule was saved.", Headers: []string{"ETag"},
		Also:    []rest.Success{{Status: http.StatusCreated, Text: "The rule was created.", Headers: []string{"Location", "ETag"}}},
		Refused: []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict},
	}, a.saveFilter, exampleSaves...)
	rest.Add(r, rest.Route{Method: "DELETE", Path: filterPath}, rest.Words{
		ID: "deleteRule", Tag: "rules", Summary: "Deletes a rule.", Answer: "The rule is deleted.",
		Refused: []int{http.StatusForbidden, http.StatusNotFound},
		Text:    "Needs the permission of the rule's level. What waits for this rule alone is cancelled.",
	}, rest.Done(a.deleteFilter))
	rest.Add(r, rest.Route{Method: "PUT", Path: filterPath + "/enabled"}, rest.Words{
		ID: "enableRule", Tag: "rules", Summary: "Switches a rule on or off.", Answer: "The rule as it is now.", Headers: []string{"ETag"},
		Text:    "Needs the permission of the rule's level. What waits for a rule that is switched off, and for no other, is cancelled.",
		Refused: []int{http.StatusForbidden, http.StatusNotFound},
	}, a.enableFilter, rest.Example[enableRule, rest.Answer[Rule]]{Name: "on", Out: &rest.Answer[Rule]{Body: exampleRule}})
}

// overwritesNothing is said of what saves a rule.
const overwritesNothing = "With its `version` (409), or `If-Match` (412), a save overwrites nothing that was saved meanwhile; without " +
	"either it goes through."

func (a *API) listFilters(ctx context.Context, in listRules) (out rest.Answer[Rules], err error) {
	if in.ID != nil {
		info, err := a.filter(ctx, int64(*in.ID))
		if err != nil {
			return out, err
		}
		one := a.ruleOf(info)
		out.Body.One, out.ETag = &one, etagOf(&info)
		return out, nil
	}
	of := notify.RuleQuery{Connection: in.Connection, ProjectKey: in.ProjectKey, RepositoryKey: cmp.Or(in.RepositoryKey, in.RepositorySlug)}
	if of.Connection != "" || of.ProjectKey != "" {
		if of.Connection, err = a.connectionOf(notify.SelfHosted, of.Connection); err != nil {
			return out, err
		}
	}
	rules, err := a.Rules.List(ctx, of)
	out.Body.All = rest.Each(rules, a.ruleOf)
	return out, err
}

func (a *API) saveFilter(ctx context.Context, in saveRule) (out rest.Answer[Rule], err error) {
	draft, err := a.selfHosted(ctx, in.rule(), &in.Wrong)
	if err != nil {
		return out, err
	}
	info, err := held(in.Match, draft.Version, a.ruleNow(ctx, draft.ID), func(version int64) (notify.RuleInfo, error) {
		draft.Version = version
		return a.Rules.Save(ctx, draft, in.WebhookURL, in.Wrong)
	})
	if err != nil {
		return out, err
	}
	out.Body, out.ETag = a.ruleOf(info), etagOf(&info)
	if draft.ID == 0 {
		out.Status, out.Location = http.StatusCreated, rest.Link(ctx, filterPath+"?id="+strconv.FormatInt(info.ID, 10))
	}
	return out, nil
}

func (a *API) deleteFilter(ctx context.Context, in deleteRule) error {
	info, err := a.filter(ctx, int64(in.ID))
	if err != nil {
		return err
	}
	if err := in.checkPlace(&info); err != nil {
		return err
	}
	return heldDo(in.Match, a.ruleNow(ctx, info.ID), func(version int64) error { return a.Rules.Delete(ctx, info.ID, version) })
}

// checkPlace is fault.Invalid where the keys of a level that the query names are not
// the rule's own: who deletes it takes it for another.
func (in *deleteRule) checkPlace(info *notify.RuleInfo) error {
	var wrong fault.Fields
	if in.Connection != "" && in.Connection != info.Connection {
		wrong.Add("connection", "Rule %d is of the connection %s.", info.ID, info.Connection)
	}
	repository, field := in.RepositoryKey, "repositoryKey"
	if repository == "" && in.RepositorySlug != "" {
		repository, field = in.RepositorySlug, "repositorySlug"
	}
	if in.ProjectKey == "" && repository == "" {
		return wrong.Err()
	}
	of := strings.ToLower(string(info.Level())) + " level"
	if place := strings.Trim(info.ProjectKey+"/"+info.RepositoryKey, "/"); place != "" {
		of += ", of " + place
	}
	if notify.Fold(in.ProjectKey) != notify.Fold(info.ProjectKey) {
		wrong.Add("projectKey", "Rule %d is on %s. Give its own keys, or none.", info.ID, of)
	}
	if notify.Fold(repository) != notify.Fold(info.RepositoryKey) {
		wrong.Add(field, "Rule %d is on %s. Give its own keys, or none.", info.ID, of)
	}
	return wrong.Err()
}

func (a *API) enableFilter(ctx context.Context, in enableRule) (out rest.Answer[Rule], err error) {
	if _, err := a.filter(ctx, int64(in.ID)); err != nil {
		return out, err
	}
	info, err := a.enable(ctx, in.Match, int64(in.ID), in.Enabled)
	return rest.Answer[Rule]{Body: a.ruleOf(info), ETag: etagOf(&info)}, err
}

// enable switches a rule of either edition on or off.
func (a *API) enable(ctx context.Context, match rest.Match, id int64, on enabling) (notify.RuleInfo, error) {
	return held(match, 0, a.ruleNow(ctx, id), func(version int64) (notify.RuleInfo, error) {
		return a.Rules.Enable(ctx, id, version, bool(on))
	})
}

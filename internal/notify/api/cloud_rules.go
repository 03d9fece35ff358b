package api

import (
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// cloudPath is what is of the cloud edition.
const cloudPath = "/rest/mtbs/1.0/cloud"

func (a *API) registerCloudRules(r *rest.Router) {
	path := rulesPaths[notify.Cloud]
	r.Handle(rest.Route{Method: "GET", Path: path, Query: []string{"connection", "id"}}, a.listCloudRules)
	r.Handle(rest.Route{Method: "POST", Path: path, Conditional: true, Query: []string{"connection"}}, a.saveCloudRule)
	r.Handle(rest.Route{Method: "DELETE", Path: path, Conditional: true, Query: []string{"connection", "id"}}, a.deleteCloudRule)
	r.Handle(rest.Route{Method: "PUT", Path: path + "/enabled", Conditional: true, Query: []string{"connection", "id", "enabled"}}, a.enableCloudRule)
	r.Handle(rest.Route{Method: "POST", Path: path + "/test", Query: []string{"connection"}}, a.testCloudRule)
	r.Handle(rest.Route{Method: "POST", Path: path + "/try", Query: []string{"connection"}}, a.tryCloudRule)
	for _, method := range []string{"GET", "POST", "DELETE"} {
		r.Handle(rest.Route{Method: method, Path: cloudPath + "/{workspace}/rules", Query: []string{"connection", "id"}}, noCloudProjects)
	}
}

// noCloudProjects answers that there are no rules of a workspace.
func noCloudProjects(http.ResponseWriter, *http.Request) error {
	return fault.InvalidField("repository", "%s", notify.NoCloudProjects)
}

// repositoryOfPath is the repository whose rules are meant.
func (a *API) repositoryOfPath(r *http.Request) (notify.RuleQuery, error) {
	name, err := a.connectionOf(notify.Cloud, r.URL.Query().Get("connection"))
	return notify.RuleQuery{Connection: name, ProjectKey: r.PathValue("workspace"), RepositoryKey: r.PathValue("repository")}, err
}

func (a *API) listCloudRules(w http.ResponseWriter, r *http.Request) error {
	at, err := a.repositoryOfPath(r)
	if err != nil {
		return err
	}
	if r.URL.Query().Has("id") {
		info, err := a.cloudRuleOfQuery(r)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", etagOf(&info))
		return rest.WriteJSON(w, r, http.StatusOK, a.cloudRuleOf(r.Context(), &info))
	}
	rules, err := a.Rules.List(r.Context(), at)
	if err != nil {
		return err
	}
	out := make([]cloudRuleJSON, len(rules))
	for i := range rules {
		out[i] = a.cloudRuleOf(r.Context(), &rules[i])
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

// readCloudRule reads a rule of the repository of the path, and notes what is
// wrong with its members.
func (a *API) readCloudRule(r *http.Request) (draft notify.Rule, webhookURL string, wrong fault.Fields, err error) {
	var in cloudRuleJSON
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return draft, "", nil, err
	}
	for i := range wrong {
		for member, name := range cloudNames {
			if wrong[i].Name == name {
				wrong[i].Name = member // as the rule's own validation calls it
			}
		}
	}
	at, wrongPlace := a.repositoryOfPath(r)
	if err := wrong.Join(wrongPlace); err != nil {
		return draft, "", nil, err
	}
	if draft = in.rule(at, &wrong); draft.ID > 0 && wrongPlace == nil {
		_, err = a.cloudRule(r.Context(), at, draft.ID)
	}
	return draft, in.WebhookURL, wrong, err
}

func (a *API) saveCloudRule(w http.ResponseWriter, r *http.Request) error {
	draft, webhookURL, wrong, err := a.readCloudRule(r)
	if err != nil {
		return err
	}
	if err := a.unchanged(r.Context(), rest.MatchOf(r), &draft); err != nil {
		return err
	}
	info, err := a.Rules.Save(r.Context(), draft, webhookURL, wrong)
	if err != nil {
		return withAccounts(r.Context(), inCloudNames(a.refused(r.Context(), rest.MatchOf(r), draft.ID, err)))
	}
	w.Header().Set("ETag", etagOf(&info))
	status := http.StatusOK
	if draft.ID == 0 {
		status = http.StatusCreated
		w.Header().Set("Location", rest.Link(r.Context(), cloudRulePath(&info)))
	}
	return rest.WriteJSON(w, r, status, a.cloudRuleOf(r.Context(), &info))
}

// cloudRuleOfQuery returns the rule of the repository of the path that the query
// names.
func (a *API) cloudRuleOfQuery(r *http.Request) (notify.RuleInfo, error) {
	at, wrongPlace := a.repositoryOfPath(r)
	id, wrongID := queryID(r)
	if err := fault.Every(wrongPlace, wrongID); err != nil {
		return notify.RuleInfo{}, err
	}
	return a.cloudRule(r.Context(), at, id)
}

func (a *API) deleteCloudRule(w http.ResponseWriter, r *http.Request) error {
	info, err := a.cloudRuleOfQuery(r)
	if err != nil {
		return err
	}
	at := notify.Rule{ID: info.ID}
	if err := a.unchanged(r.Context(), rest.MatchOf(r), &at); err != nil {
		return err
	}
	if err := a.Rules.Delete(r.Context(), info.ID, at.Version); err != nil {
		return a.refused(r.Context(), rest.MatchOf(r), info.ID, err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// enableCloudRule switches a rule on or off.
func (a *API) enableCloudRule(w http.ResponseWriter, r *http.Request) error {
	enabled, wrongEnabled := queryEnabled(r)
	info, err := a.cloudRuleOfQuery(r)
	if err := fault.Every(err, wrongEnabled); err != nil {
		return err
	}
	at := notify.Rule{ID: info.ID}
	if err := a.unchanged(r.Context(), rest.MatchOf(r), &at); err != nil {
		return err
	}
	saved, err := a.Rules.Enable(r.Context(), info.ID, at.Version, enabled)
	if err != nil {
		return withAccounts(r.Context(), a.refused(r.Context(), rest.MatchOf(r), info.ID, err))
	}
	w.Header().Set("ETag", etagOf(&saved))
	return rest.WriteJSON(w, r, http.StatusOK, a.cloudRuleOf(r.Context(), &saved))
}

// testCloudRule sends a test message of a rule that need not be saved.
func (a *API) testCloudRule(w http.ResponseWriter, r *http.Request) error {
	draft, webhookURL, wrong, err := a.readCloudRule(r)
	if err != nil {
		return err
	}
	done, err := a.Rules.Test(r.Context(), draft, webhookURL, wrong)
	if err != nil {
		return inCloudNames(err)
	}
	return rest.WriteJSON(w, r, http.StatusOK, testedOf(done))
}

// tryCloudRule says which of the last events of the repository a rule, saved or
// not, would have taken.
func (a *API) tryCloudRule(w http.ResponseWriter, r *http.Request) error {
	draft, _, wrong, err := a.readCloudRule(r)
	if err != nil {
		return err
	}
	trial, err := a.Trials.Try(r.Context(), draft, wrong)
	if err != nil {
		return inCloudNames(err)
	}
	return rest.WriteJSON(w, r, http.StatusOK, trialOf(&trial))
}

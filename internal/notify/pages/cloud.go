package pages

import (
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/notify"
)

const (
	cloudPath      = "/notifications/cloud"
	cloudRulesPath = cloudPath + "/rules"
)

func (p *Pages) registerCloud(c *console.Console) {
	c.Handle("GET "+cloudPath, console.SignedIn, p.listRepositories, "cloud")
	c.Handle("GET "+cloudRulesPath, console.SignedIn, console.Of(p.placeOfQuery, p.listCloudRules), "rules")
	c.Handle("POST "+cloudRulesPath+"/webhook", console.SignedIn, console.Of(p.placeOfQuery, p.createRepositoryWebhook))
	c.Handle("POST "+cloudRulesPath+"/hook", console.SignedIn, console.Of(p.placeOfQuery, p.createRepositoryHook), "hook-secret")
}

// cloudTabs are the views of the cloud edition.
func cloudTabs(current string) []console.Tab {
	return []console.Tab{
		{Label: "Repositories", Path: cloudPath, Current: current == cloudPath},
		{Label: "Accounts", Path: notify.AccountsPath, Current: current == notify.AccountsPath},
	}
}

// repositoryRow is a repository in the list.
type repositoryRow struct {
	notify.CloudRepository
	Path  string
	Sends console.Badge // whether its webhook does
}

type repositoryList struct {
	Connections []string
	Rows        []repositoryRow
	Several     bool // connections
	Pager       console.Pager
}

// listRepositories lists the repositories of the cloud edition that are known.
func (p *Pages) listRepositories(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	after := notify.RuleQuery{Connection: q.Get("afterConnection"), ProjectKey: q.Get("afterWorkspace"),
		RepositoryKey: q.Get("afterRepository")}
	found, err := p.Rules.CloudRepositories(r.Context(), after, pageSize+1)
	if err != nil {
		return nil, err
	}
	list := repositoryList{Connections: p.Rules.Connections(notify.Cloud).Names()}
	list.Several = len(list.Connections) > 1
	if len(found) > pageSize {
		found = found[:pageSize]
		last := found[pageSize-1]
		list.Pager.Next = cloudPath + console.Query("afterConnection", last.Connection, "afterWorkspace", last.Workspace, "afterRepository",
			last.Repository)
	}
	if after.RepositoryKey != "" {
		list.Pager.First = cloudPath
	}
	for _, one := range found {
		at := rulePlace{notify.RepositoryLevel, one.Connection, one.Workspace, one.Repository}
		list.Rows = append(list.Rows, repositoryRow{one, at.list(), repositoryWebhookBadge(one.Webhook)})
	}
	return console.Page{Template: "cloud", Title: "Cloud", Data: list, Tabs: cloudTabs(cloudPath)}, nil
}

// listCloudRules lists the rules of a repository.
func (p *Pages) listCloudRules(r *http.Request, at rulePlace) (console.Response, error) {
	list, err := p.ruleList(r, at, notify.RulePage{
		Level: notify.RepositoryLevel, Edition: notify.Cloud, Connection: at.Connection, Project: at.Workspace, Repository: at.Repository,
	}, console.NewList(at.base(), console.NewForm(), nil, "connection", at.Connection, "workspace", at.Workspace, "repository", at.Repository))
	if err != nil {
		return nil, err
	}
	for i := range list.Rows {
		if list.Rows[i].AuthorizationRequired() {
			list.Unauthorized++
		}
	}
	if list.Webhook, err = p.repositoryWebhook(r, at); err != nil {
		return nil, err
	}
	return console.Page{
		Template: "rules", Title: at.Name(), Data: list, Up: []console.Link{{Label: "Cloud", Path: cloudPath}},
		Actions: []console.Action{{Label: "Add a rule", Path: list.New}},
	}, nil
}

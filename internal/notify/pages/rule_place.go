package pages

import (
	"net/http"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// rulePlace is where the rules of a list or a form belong: those of a level or,
// where the repository is named, those of a repository of the cloud edition.
type rulePlace struct {
	Level                             notify.Level
	Connection, Workspace, Repository string
}

// Cloud reports whether they are rules of the cloud edition.
func (at rulePlace) Cloud() bool { return at.Repository != "" }

// Name is the repository as people write it.
func (at rulePlace) Name() string { return at.Workspace + "/" + at.Repository }

func (at rulePlace) edition() notify.Edition {
	if at.Cloud() {
		return notify.Cloud
	}
	return notify.SelfHosted
}

// base is the path below which the rules are.
func (at rulePlace) base() string {
	if at.Cloud() {
		return cloudRulesPath
	}
	return rulesPath
}

// query names the place in an address.
func (at rulePlace) query() string {
	if at.Cloud() {
		return console.Query("connection", at.Connection, "workspace", at.Workspace, "repository", at.Repository)
	}
	return console.Query("level", levelQuery(at.Level))
}

// list is the address of the list.
func (at rulePlace) list() string { return at.base() + at.query() }

// up are the pages above a rule.
func (at rulePlace) up() []console.Link {
	if at.Cloud() {
		return []console.Link{{Label: "Cloud", Path: cloudPath}, {Label: at.Name(), Path: at.list()}}
	}
	return []console.Link{{Label: "Rules", Path: at.list()}}
}

// placeOf is where a rule belongs.
func (p *Pages) placeOf(r *notify.Rule) rulePlace {
	if p.Rules.Edition(r.Connection) == notify.Cloud {
		return rulePlace{notify.RepositoryLevel, r.Connection, r.ProjectKey, r.RepositoryKey}
	}
	return rulePlace{Level: r.Level()}
}

// placeOfQuery is where a new rule is to belong: for who may have one there, as
// far as the address says it.
func (p *Pages) placeOfQuery(r *http.Request) (rulePlace, error) {
	q := r.URL.Query()
	if !underCloud(r) {
		at := rulePlace{Level: levelOf(q.Get("level"))}
		if at.Level == notify.Global && q.Get("level") == "" && !identity.From(r.Context()).May(identity.Admin, identity.Resource{}) {
			at.Level = notify.ProjectLevel
		}
		return at, nil
	}
	of, err := p.Rules.Repository(r.Context(), notify.RuleQuery{
		Connection: q.Get("connection"), ProjectKey: q.Get("workspace"), RepositoryKey: q.Get("repository"),
	})
	return rulePlace{notify.RepositoryLevel, of.Connection, of.ProjectKey, of.RepositoryKey}, err
}

// underCloud reports whether a page of the cloud edition was asked for.
func underCloud(r *http.Request) bool { return strings.Contains(r.URL.Path+"/", cloudRulesPath+"/") }

// rulePath is the page of a rule.
func (p *Pages) rulePath(r *notify.Rule) string { return p.placeOf(r).base() + "/" + idText(r.ID) }

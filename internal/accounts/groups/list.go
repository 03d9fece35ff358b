package groups

import (
	"net/http"

	"outrigger/internal/accounts/grants"
	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/phrase"
)

type listView struct {
	Groups   []row
	Provider string
	Missing  string // what the settings lack
	Grant    string
	Pager    console.Pager
}

// row is a group as the list shows it.
type row struct {
	identity.Group
	Page  string
	May   []string // what the grants allow, a sentence each
	Known string   // how many users are in it
}

func rowOf(g identity.Group) row {
	out := row{Group: g, Page: pageOf(g.Name), Known: phrase.Count(g.Users, "user")}
	for _, grant := range g.Grants {
		out.May = append(out.May, grants.Sentence(grant))
	}
	return out
}

func (g *groups) list(r *http.Request) (console.Response, error) {
	after := r.URL.Query().Get("after")
	found, err := g.Service.Groups(r.Context(), after, listed+1)
	if err != nil {
		return nil, err
	}
	view := listView{Provider: g.Provider, Missing: g.missing(), Grant: grantPath}
	found, view.Pager = console.Paged(found, listed, path, after == "", identity.Group.Place)
	for _, group := range found {
		view.Groups = append(view.Groups, rowOf(group))
	}
	page := console.Page{Template: "groups", Title: "Groups", Data: view}
	if view.Missing == "" {
		page.Actions = []console.Action{{Label: "Grant a permission", Path: grantPath}}
	}
	return page, nil
}

type groupView struct {
	row
	Missing  string
	Grants   []grants.Row
	Members  []memberRow
	Provider string
	Pager    console.Pager
}

type memberRow struct {
	identity.Member
	Page string
}

func (g *groups) show(r *http.Request, group identity.Group) (console.Response, error) {
	after := r.URL.Query().Get("after")
	members, err := g.Service.Members(r.Context(), group.Name, after, listed+1)
	if err != nil {
		return nil, err
	}
	view := groupView{
		row: rowOf(group), Missing: g.missing(), Grants: grants.Rows(group.Grants, group.Name, pageOf(group.Name)), Provider: g.Provider,
	}
	members, view.Pager = console.Paged(members, listed, pageOf(group.Name), after == "", func(m identity.Member) string { return m.Ref })
	for _, m := range members {
		view.Members = append(view.Members, memberRow{m, console.Path("/system/users/named/%s", m.Ref)})
	}
	return console.Page{
		Template: "group", Title: group.Name, Up: up(),
		Actions: []console.Action{{Label: "Grant a permission", Path: console.Path(grantPath+"?group=%s", group.Name)}}, Data: view,
	}, nil
}

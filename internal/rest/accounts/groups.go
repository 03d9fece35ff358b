package accounts

import (
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

type group struct {
	Name   string  `json:"name"`
	Admin  bool    `json:"adminGroup"`
	Users  int     `json:"users"`
	Grants []grant `json:"grants"`
}

func groupOf(g identity.Group) group {
	return group{g.Name, g.Admin, g.Users, mapped(g.Grants, grantOf)}
}

type member struct {
	User    string    `json:"user"`
	Enabled bool      `json:"enabled"`
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
}

func memberOf(m identity.Member) member {
	return member{m.Ref, !m.Disabled, m.Since, m.Until}
}

func (e endpoints) listGroups(w http.ResponseWriter, r *http.Request) error {
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	groups, err := e.identity.Groups(r.Context(), page.After, page.Limit+1)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, groups, identity.Group.Place, groupOf))
}

func (e endpoints) group(w http.ResponseWriter, r *http.Request) error {
	g, err := e.identity.Group(r.Context(), r.PathValue("group"))
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, groupOf(g))
}

func (e endpoints) listMembers(w http.ResponseWriter, r *http.Request) error {
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	g, err := e.identity.Group(r.Context(), r.PathValue("group"))
	if err != nil {
		return err
	}
	members, err := e.identity.Members(r.Context(), g.Name, page.After, page.Limit+1)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, members, func(m identity.Member) string { return m.Ref }, memberOf))
}

func (e endpoints) listGroupGrants(w http.ResponseWriter, r *http.Request) error {
	g, err := e.identity.Group(r.Context(), r.PathValue("group"))
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.List[grant]{Items: mapped(g.Grants, grantOf)})
}

func (e endpoints) grantGroup(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("group")
	perm, at, err := e.readGrant(r, func(perm identity.Permission, at identity.Resource) error {
		return identity.JudgeGroupGrant(name, perm, at)
	})
	if err != nil {
		return err
	}
	g, err := e.identity.GrantGroup(r.Context(), name, perm, at)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusCreated, grantOf(g))
}

func (e endpoints) revokeGroup(w http.ResponseWriter, r *http.Request) error {
	id, ok := pathID(r)
	if !ok {
		return fault.New(fault.NotFound, "There is no grant %q.", r.PathValue("id"))
	}
	return noContent(w, e.identity.RevokeGroup(r.Context(), r.PathValue("group"), id))
}

package accounts

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

type grant struct {
	ID         int64               `json:"id"`
	Permission identity.Permission `json:"permission"`
	Connection string              `json:"connection,omitempty"`
	Project    string              `json:"projectKey,omitempty"`
	Repository string              `json:"repositoryKey,omitempty"`
	GrantedAt  time.Time           `json:"grantedAt"`
}

func grantOf(g identity.Grant) grant {
	return grant{g.ID, g.Permission, g.Resource.Connection, g.Resource.Project, g.Resource.Repository, g.GrantedAt}
}

// listGrants answers all of them: no user has so many that they need pages.
func (e endpoints) listGrants(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if err := selfOr(r.Context(), name); err != nil {
		return err
	}
	u, err := e.identity.User(r.Context(), name)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.List[grant]{Items: mapped(u.Grants, grantOf)})
}

func (e endpoints) grant(w http.ResponseWriter, r *http.Request) error {
	perm, at, err := e.readGrant(r, identity.JudgeGrant)
	if err != nil {
		return err
	}
	g, err := e.identity.Grant(r.Context(), r.PathValue("name"), perm, at)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusCreated, grantOf(g))
}

// readGrant reads the permission that a request is to grant; judge says what else
// is wrong with it.
func (e endpoints) readGrant(r *http.Request, judge func(identity.Permission, identity.Resource) error) (identity.Permission, identity.Resource, error) {
	var in grant
	var wrong fault.Fields
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return "", identity.Resource{}, err
	}
	in.Permission = rest.Spelled(in.Permission, identity.Permissions()...)
	at := identity.Resource{Connection: in.Connection, Project: in.Project, Repository: in.Repository}
	if names := e.connections(); at.Connection != "" && !slices.Contains(names, at.Connection) {
		wrong.Add("connection", "%s", noConnection(at.Connection, names))
	}
	return in.Permission, at, fault.Every(wrong.Err(), judge(in.Permission, at))
}

func noConnection(name string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("There is no connection %q; add it first.", name)
	}
	return fmt.Sprintf("There is no connection %q; give %s.", name, strings.Join(names, " or "))
}

func (e endpoints) revokeGrant(w http.ResponseWriter, r *http.Request) error {
	id, ok := pathID(r)
	if !ok {
		return fault.New(fault.NotFound, "There is no grant %q.", r.PathValue("id"))
	}
	return noContent(w, e.identity.Revoke(r.Context(), r.PathValue("name"), id))
}

package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// NewGrant is a permission to grant.
type NewGrant struct {
	Permission identity.Permission `json:"permission" enum:"SYS_ADMIN,ADMIN,PROJECT_ADMIN,REPO_ADMIN"`
	Connection string              `json:"connection,omitempty" doc:"For PROJECT_ADMIN and REPO_ADMIN, and only there."`
	Project    string              `json:"projectKey,omitempty" doc:"For PROJECT_ADMIN and REPO_ADMIN, and only there."`
	Repository string              `json:"repositoryKey,omitempty" doc:"For REPO_ADMIN, and only there."`
}

// Grant is a permission that was granted.
type Grant struct {
	ID int64 `json:"id"`
	NewGrant
	GrantedAt time.Time `json:"grantedAt"`
}

// GrantOf is a grant as the API lists it.
func GrantOf(g identity.Grant) Grant {
	return Grant{g.ID, NewGrant{g.Permission, g.Resource.Connection, g.Resource.Project, g.Resource.Repository}, g.GrantedAt}
}

// granting is a request to grant a permission.
type granting struct {
	NewGrant
	Wrong fault.Fields `json:"-"`
	rest.Ignored[Grant]
}

type grantUser struct {
	ofUser
	granting
}

type revokeGrant struct {
	ofUser
	ID int64 `path:"id" of:"grant" doc:"The grant's id, as the list gives it." example:"1"`
}

func (e endpoints) registerGrants(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: userPath + "/grants", Access: rest.SignedIn}, rest.Words{
		ID: "listGrants", Tag: tag, Summary: "Lists what a user was granted.", Answer: "All grants, the oldest first.",
		Text: "Your own; those of other users need `SYS_ADMIN`. It is not cut into pages. What a user of the platform administers " +
			"there, and what groups of single sign-on give, counts too and is not listed.",
		Refused: []int{http.StatusForbidden},
	}, e.listGrants)
	rest.Add(r, rest.Route{Method: "POST", Path: userPath + "/grants", Access: rest.SysAdmins}, rest.Words{
		ID: "grantPermission", Tag: tag, Summary: "Gives a user a permission.", Answer: "The permission is granted.", Status: http.StatusCreated,
		Text:      "Needs `SYS_ADMIN`. A token alone may not do this; see `Outrigger-Code`.",
		Confirmed: true, Refused: []int{http.StatusConflict},
	}, func(ctx context.Context, in grantUser) (Grant, error) {
		perm, at, err := e.readGrant(in.granting, identity.JudgeGrant)
		if err != nil {
			return Grant{}, err
		}
		g, err := e.identity.Grant(ctx, in.Name, perm, at)
		return GrantOf(g), err
	}, exampleGrants...)
	rest.Add(r, rest.Route{Method: "DELETE", Path: userPath + "/grants/{id}", Access: rest.SysAdmins}, rest.Words{
		ID: "revokePermission", Tag: tag, Summary: "Takes a permission back.", Answer: "The permission is gone, on every node within a second.",
		Text: "Needs `SYS_ADMIN`. The last grant of `SYS_ADMIN` to a local user stays (409). A token alone may not do this; see " +
			"`Outrigger-Code`.",

		Confirmed: true, Refused: []int{http.StatusConflict},
	}, rest.Done(func(ctx context.Context, in revokeGrant) error { return e.identity.Revoke(ctx, in.Name, in.ID) }))
}

var exampleGrants = []rest.Example[grantUser, Grant]{
	{Name: "repository", In: grantUser{granting: granting{NewGrant: ofRepository}}, Out: &Grant{3, ofRepository, day}},
	{
		Name: "tooNarrow", In: grantUser{granting: granting{NewGrant: NewGrant{Permission: identity.Admin, Project: "ALPHA"}}},
		Err: fault.InvalidField("projectKey", "The permission is for more than one project; leave this empty."),
	},
}

var ofRepository = NewGrant{identity.RepoAdmin, "main", "ALPHA", "api"}

// listGrants answers all of them: no user has so many that they need pages.
func (e endpoints) listGrants(ctx context.Context, in ofUser) (list rest.List[Grant], err error) {
	if err := selfOr(ctx, in.Name); err != nil {
		return list, err
	}
	u, err := e.identity.User(ctx, in.Name)
	return rest.List[Grant]{Items: rest.Each(u.Grants, GrantOf)}, err
}

// readGrant reads the permission that a request is to grant; judge says what else
// is wrong with it.
func (e endpoints) readGrant(
	in granting, judge func(identity.Permission, identity.Resource) error,
) (identity.Permission, identity.Resource, error) {
	perm := rest.Spelled(in.Permission, identity.Permissions()...)
	at := identity.Resource{Connection: in.Connection, Project: in.Project, Repository: in.Repository}
	if names := e.connections(); at.Connection != "" && !slices.Contains(names, at.Connection) {
		in.Wrong.Add("connection", "%s", noConnection(at.Connection, names))
	}
	return perm, at, fault.Every(in.Wrong.Err(), judge(perm, at))
}

func noConnection(name string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("There is no connection %q; add it first.", name)
	}
	return fmt.Sprintf("There is no connection %q; give %s.", name, strings.Join(names, " or "))
}

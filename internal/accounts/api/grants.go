package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// NewGrant is a permission to grant.
type NewGrant struct {
	Permission identity.Permission `json:"permission" enum:"SYS_ADMIN,ADMIN,PROJECT_ADMIN,REPO_ADMIN" doc:"What may be done there."`
	identity.Resource
}

// granting is a request to grant a permission.
type granting struct {
	NewGrant
	Wrong fault.Fields `json:"-"`
	rest.Ignored[identity.Grant]
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
	}, e.listGrants, rest.Example[ofUser, rest.List[identity.Grant]]{Name: "one", Out: &exampleGrantList})
	rest.Add(r, rest.Route{Method: "POST", Path: userPath + "/grants", Access: rest.SysAdmins}, rest.Words{
		ID: "grantPermission", Tag: tag, Summary: "Gives a user a permission.", Answer: "The permission is granted.",
		Status:    http.StatusCreated,
		Text:      "Needs `SYS_ADMIN`. A token alone may not do this; see `Outrigger-Code`.",
		Confirmed: true, Refused: []int{http.StatusConflict},
	}, func(ctx context.Context, in grantUser) (identity.Grant, error) {
		perm, at, err := e.readGrant(in.granting, identity.JudgeGrant)
		if err != nil {
			return identity.Grant{}, err
		}
		return e.identity.Grant(ctx, in.Name, perm, at)
	}, exampleGrants...)
	rest.Add(r, rest.Route{Method: "DELETE", Path: userPath + "/grants/{id}", Access: rest.SysAdmins}, rest.Words{
		ID: "revokePermission", Tag: tag, Summary: "Takes a permission back.",
		Answer: "The permission is gone, on every node within a second.",
		Text: "Needs `SYS_ADMIN`. The last grant of `SYS_ADMIN` to a local user stays (409). A token alone may not do this; see " +
			"`Outrigger-Code`.",

		Confirmed: true, Refused: []int{http.StatusConflict},
	}, rest.Done(func(ctx context.Context, in revokeGrant) error { return e.identity.Revoke(ctx, in.Name, in.ID) }))
}

var exampleGrants = []rest.Example[grantUser, identity.Grant]{
	{Name: "repository", In: grantUser{granting: granting{NewGrant: NewGrant{identity.RepoAdmin, api}}},
		Out: &exampleGrant},
	{
		Name: "tooNarrow", In: grantUser{granting: granting{NewGrant: NewGrant{identity.Admin, identity.Resource{Project: "ALPHA"}}}},
		Err: fault.InvalidField("projectKey", "The permission is for more than one project; leave this empty."),
	},
}

var (
	api              = identity.Resource{Connection: "main", Project: "ALPHA", Repository: "api"}
	exampleGrant     = identity.Grant{ID: 3, Permission: identity.RepoAdmin, Resource: api, GrantedAt: day}
	exampleGrantList = rest.List[identity.Grant]{Items: []identity.Grant{exampleGrant}}
)

// listGrants answers all of them: no user has so many that they need pages.
func (e endpoints) listGrants(ctx context.Context, in ofUser) (list rest.List[identity.Grant], err error) {
	if err := selfOr(ctx, in.Name); err != nil {
		return list, err
	}
	u, err := e.identity.User(ctx, in.Name)
	return rest.List[identity.Grant]{Items: append([]identity.Grant{}, u.Grants...)}, err
}

// readGrant reads the permission that a request is to grant; judge says what else
// is wrong with it.
func (e endpoints) readGrant(
	in granting, judge func(identity.Permission, identity.Resource) error,
) (identity.Permission, identity.Resource, error) {
	perm := rest.Spelled(in.Permission, identity.Permissions()...)
	if names := e.connections(); in.Connection != "" && !slices.Contains(names, in.Connection) {
		in.Wrong.Add("connection", "%s", noConnection(in.Connection, names))
	}
	return perm, in.Resource, fault.Every(in.Wrong.Err(), judge(perm, in.Resource))
}

func noConnection(name string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("There is no connection %q; add it first.", name)
	}
	return fmt.Sprintf("There is no connection %q; give %s.", name, strings.Join(names, " or "))
}

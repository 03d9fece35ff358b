package api

import (
	"context"
	"net/http"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// GroupUser is a user who is known to be in a group.
type GroupUser struct {
	User    string    `json:"user" doc:"The user's name, as /users/{name} takes it." example:"oidc:ada"`
	Enabled bool      `json:"enabled" doc:"False: the user is disabled."`
	Since   time.Time `json:"since" doc:"The first of the sign-ins, without a gap of 7 days, at which the provider named the group."`
	Until   time.Time `json:"until" doc:"When the group no longer counts if the user does not sign in again."`
}

// ofGroup is a request about a group.
type ofGroup struct {
	Group string `path:"group" json:"-" doc:"A group's name as the provider writes it, compared exactly." example:"shop-developers"`
}

type listUsersOfGroup struct {
	ofGroup
	Page rest.Page
}

const groupPath = GroupsPath + "/{group}"

func (e endpoints) registerGroups(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: GroupsPath, Access: rest.SysAdmins}, rest.Words{
		ID: "listGroups", Tag: tag, Summary: "Lists groups of single sign-on, those that give a permission first, each by name.",
		Text: "Needs `SYS_ADMIN`. The groups that were granted something, that the setting `identity.oidc.admin_groups` names, and " +
			"those that a user is known to be in.",
		Answer: "A page of groups.",
	}, e.listGroups, rest.Example[listPage, rest.List[identity.Group]]{
		Name: "page", Out: &rest.List[identity.Group]{Items: []identity.Group{exampleGroup}},
	})
	rest.Add(r, rest.Route{Method: "GET", Path: groupPath, Access: rest.SysAdmins}, rest.Words{
		ID: "getGroup", Tag: tag, Summary: "Returns a group of single sign-on.", Text: "Needs `SYS_ADMIN`.", Answer: "The group.",
	}, func(ctx context.Context, in ofGroup) (identity.Group, error) { return e.identity.Group(ctx, in.Group) },
		rest.Example[ofGroup, identity.Group]{Name: "granted", Out: &exampleGroup})
	rest.Add(r, rest.Route{Method: "GET", Path: groupPath + "/users", Access: rest.SysAdmins}, rest.Words{
		ID: "listGroupUsers", Tag: tag, Summary: "Lists the users who are known to be in a group, by name.", Answer: "A page of users.",
		Text: "Needs `SYS_ADMIN`. Those who signed in with the provider within 7 days and of whom it named the group then.",
	}, e.listMembers, rest.Example[listUsersOfGroup, rest.List[GroupUser]]{Name: "page", Out: &rest.List[GroupUser]{
		Items: []GroupUser{{User: "oidc:ada", Enabled: true, Since: day, Until: day.AddDate(0, 0, 7)}},
	}})
}

var exampleGroup = identity.Group{Name: "shop-developers", Users: 12, Grants: exampleGrantList.Items}

func (e endpoints) listGroups(ctx context.Context, in listPage) (list rest.List[identity.Group], err error) {
	groups, err := e.identity.Groups(ctx, in.Page.After, in.Page.Limit+1)
	return rest.ListOf(in.Page, groups, err, identity.Group.Place)
}

func (e endpoints) listMembers(ctx context.Context, in listUsersOfGroup) (list rest.List[GroupUser], err error) {
	g, err := e.identity.Group(ctx, in.Group)
	if err != nil {
		return list, err
	}
	members, err := e.identity.Members(ctx, g.Name, in.Page.After, in.Page.Limit+1)
	return rest.NewList(in.Page, members, err, func(m identity.Member) string { return m.Ref }, func(m identity.Member) GroupUser {
		return GroupUser{m.Ref, !m.Disabled, m.Since, m.Until}
	})
}

type grantGroup struct {
	ofGroup
	granting
}

type revokeGroup struct {
	ofGroup
	ID int64 `path:"id" of:"grant" doc:"The grant's id, as the list gives it." example:"1"`
}

func (e endpoints) registerGroupGrants(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: groupPath + "/grants", Access: rest.SysAdmins}, rest.Words{
		ID: "listGroupGrants", Tag: tag, Summary: "Lists what a group was granted.", Answer: "All grants, the oldest first.",
		Text: "Needs `SYS_ADMIN`. It is not cut into pages. What `identity.oidc.admin_groups` gives is not listed.",
	}, func(ctx context.Context, in ofGroup) (rest.List[identity.Grant], error) {
		g, err := e.identity.Group(ctx, in.Group)
		return rest.List[identity.Grant]{Items: g.Grants}, err
	}, rest.Example[ofGroup, rest.List[identity.Grant]]{Name: "one", Out: &exampleGrantList})
	rest.Add(r, rest.Route{Method: "POST", Path: groupPath + "/grants", Access: rest.SysAdmins}, rest.Words{
		ID: "grantPermissionToGroup", Tag: tag, Summary: "Gives the users of a group a permission.", Answer: "The permission is granted.",
		Status: http.StatusCreated,
		Text: "Needs `SYS_ADMIN`. Any permission but `SYS_ADMIN`, to a group that is known or not. It holds within a second for users " +
			"who are known to be in the group, for others from their next sign-in with the provider on. A token alone may not do this; " +
			"see `Outrigger-Code`.",
		Confirmed: true, Refused: []int{http.StatusConflict},
	}, e.grantGroup, rest.Example[grantGroup, identity.Grant]{
		Name: "project", In: grantGroup{granting: granting{NewGrant: NewGrant{
			identity.ProjectAdmin, identity.Resource{Connection: "main", Project: "ALPHA"},
		}}},
	})
	rest.Add(r, rest.Route{Method: "DELETE", Path: groupPath + "/grants/{id}", Access: rest.SysAdmins}, rest.Words{
		ID: "revokePermissionOfGroup", Tag: tag, Summary: "Takes a permission back from a group.", Confirmed: true,
		Text: "Needs `SYS_ADMIN`. A token alone may not do this; see `Outrigger-Code`.", Answer: "The permission is gone, on every node " +
			"within a second.",
	}, rest.Done(func(ctx context.Context, in revokeGroup) error { return e.identity.RevokeGroup(ctx, in.Group, in.ID) }))
}

func (e endpoints) grantGroup(ctx context.Context, in grantGroup) (identity.Grant, error) {
	perm, at, err := e.readGrant(in.granting, func(perm identity.Permission, at identity.Resource) error {
		return identity.JudgeGroupGrant(in.Group, perm, at)
	})
	if err != nil {
		return identity.Grant{}, err
	}
	return e.identity.GrantGroup(ctx, in.Group, perm, at)
}

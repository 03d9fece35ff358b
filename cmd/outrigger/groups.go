package main

import (
	"context"
	"net/url"
	"strconv"

	"outrigger/internal/accounts/api"
	"outrigger/internal/identity"
)

type groupsCmd struct {
	List   groupListCmd   `cmd:"" help:"List the groups of single sign-on, with their permissions and how many users are known to be in them."`
	Grant  groupGrantCmd  `cmd:"" help:"Grant a permission to the users of a group."`
	Revoke groupRevokeCmd `cmd:"" help:"Revoke a permission."`
}

type groupListCmd struct{ accountFlags }

func (c groupListCmd) Run(ctx context.Context, s streams) error {
	return c.with(ctx, s, func(ctx context.Context, a accounts) error {
		groups, err := a.Groups(ctx)
		if err != nil {
			return err
		}
		header := []string{"NAME", "PERMISSIONS (ID: GRANT)", "USERS", "SETTING"}
		return printList(s, c.JSON, groups, header, func(g *identity.Group) []string {
			setting := "-"
			if g.Admin {
				setting = "admin_groups"
			}
			return []string{g.Name, grantsText(g.Grants), strconv.Itoa(g.Users), setting}
		})
	})
}

type groupGrantCmd struct {
	accountFlags
	Name       string              `arg:"" help:"The group's name, as the provider writes it."`
	Permission identity.Permission `arg:"" enum:"ADMIN,PROJECT_ADMIN,REPO_ADMIN" help:"ADMIN, PROJECT_ADMIN or REPO_ADMIN."`
	resourceFlags
}

func (c groupGrantCmd) Run(ctx context.Context, s streams) error {
	return c.grant(ctx, s, func(ctx context.Context, a accounts) (identity.Grant, error) {
		return a.GrantGroup(ctx, c.Name, c.Permission, c.resource())
	})
}

type groupRevokeCmd struct {
	accountFlags
	Name  string `arg:"" help:"The group's name."`
	Grant int64  `arg:"" help:"The grant's id, from groups list."`
}

func (c groupRevokeCmd) Run(ctx context.Context, s streams) error {
	return c.with(ctx, s, func(ctx context.Context, a accounts) error { return a.RevokeGroup(ctx, c.Name, c.Grant) })
}

func groupPath(name, rest string) string { return api.GroupsPath + "/" + url.PathEscape(name) + rest }

func (a remoteAccounts) Groups(ctx context.Context) ([]identity.Group, error) {
	return list[identity.Group](ctx, a.client, api.GroupsPath, url.Values{})
}

func (a remoteAccounts) GrantGroup(ctx context.Context, name string, p identity.Permission, at identity.Resource) (identity.Grant, error) {
	return a.grantAt(ctx, groupPath(name, "/grants"), api.NewGrant{Permission: p, Resource: at})
}

func (a remoteAccounts) RevokeGroup(ctx context.Context, name string, id int64) error {
	return a.do(ctx, "DELETE", groupPath(name, "/grants/"+strconv.FormatInt(id, 10)), nil, nil)
}

func (a localAccounts) Groups(ctx context.Context) ([]identity.Group, error) {
	return a.Service.Groups(ctx, "", atOnce)
}

package main

import (
	"context"
	"net/url"
	"strconv"

	"outrigger/internal/identity"
)

type groupsCmd struct {
	List   groupListCmd   `cmd:"" help:"List the groups of single sign-on, with their permissions and how many users are known to be in them."`
	Grant  groupGrantCmd  `cmd:"" help:"Grant a permission to the users of a group."`
	Revoke groupRevokeCmd `cmd:"" help:"Revoke a permission."`
}

// group is as REST writes it; commands print it so.
type group struct {
	Name       string  `json:"name"`
	AdminGroup bool    `json:"adminGroup"`
	Users      int     `json:"users"`
	Grants     []grant `json:"grants"`
}

// state says what the settings say of the group.
func (g group) state() string {
	if g.AdminGroup {
		return "admin_groups"
	}
	return "-"
}

type groupListCmd struct{ accountFlags }

func (c groupListCmd) Run(ctx context.Context, s streams) error {
	return c.with(ctx, s, func(ctx context.Context, a accounts) error {
		groups, err := a.Groups(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.out, groups)
		}
		rows := make([][]string, len(groups))
		for i, g := range groups {
			rows[i] = []string{g.Name, grantsText(g.Grants), strconv.Itoa(g.Users), g.state()}
		}
		return printRows(s.out, []string{"NAME", "PERMISSIONS (ID: GRANT)", "USERS", "SETTING"}, rows)
	})
}

type groupGrantCmd struct {
	accountFlags
	Name       string              `arg:"" help:"The group's name, as the provider writes it."`
	Permission identity.Permission `arg:"" enum:"ADMIN,PROJECT_ADMIN,REPO_ADMIN" help:"ADMIN, PROJECT_ADMIN or REPO_ADMIN."`
	resourceFlags
}

func (c groupGrantCmd) Run(ctx context.Context, s streams) error {
	return c.grant(ctx, s, func(ctx context.Context, a accounts) (grant, error) {
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

const groupsPath = "/rest/outrigger/1.0/groups"

func groupPath(name, rest string) string { return groupsPath + "/" + url.PathEscape(name) + rest }

func (a remoteAccounts) Groups(ctx context.Context) ([]group, error) {
	return list[group](ctx, a.client, groupsPath, url.Values{})
}

func (a remoteAccounts) GrantGroup(ctx context.Context, name string, perm identity.Permission, at identity.Resource) (grant, error) {
	return a.grantAt(ctx, groupPath(name, "/grants"), perm, at)
}

func (a remoteAccounts) RevokeGroup(ctx context.Context, name string, id int64) error {
	return a.do(ctx, "DELETE", groupPath(name, "/grants/"+strconv.FormatInt(id, 10)), nil, nil)
}

func (a localAccounts) Groups(ctx context.Context) ([]group, error) {
	stored, err := a.Service.Groups(ctx, "", atOnce)
	all := make([]group, len(stored))
	for i, g := range stored {
		all[i] = group{g.Name, g.Admin, g.Users, grantsOf(g.Grants)}
	}
	return all, err
}

func (a localAccounts) GrantGroup(ctx context.Context, name string, perm identity.Permission, at identity.Resource) (grant, error) {
	g, err := a.Service.GrantGroup(ctx, name, perm, at)
	return grantOf(g), err
}

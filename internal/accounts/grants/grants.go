// Package grants is what the console's pages about users and about groups share:
// the form that grants a permission, and the grants that are listed.
package grants

import (
	"fmt"
	"slices"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// Row is a grant as the template "grant-row" shows it.
type Row struct {
	identity.Grant
	Holder, Text, Revoke string
}

// Rows are the grants of a user or a group, whose page is at the path page.
func Rows(granted []identity.Grant, holder, page string) []Row {
	rows := make([]Row, len(granted))
	for i, g := range granted {
		rows[i] = Row{g, holder, Sentence(g), page + console.Path("/grants/%d/revoke", g.ID)}
	}
	return rows
}

// Find is the grant whose id stands in a path: fault.NotFound where holder has it no
// longer.
func Find(granted []identity.Grant, id, holder string) (identity.Grant, error) {
	for _, g := range granted {
		if strconv.FormatInt(g.ID, 10) == id {
			return g, nil
		}
	}
	return identity.Grant{}, fault.New(fault.NotFound, "%s no longer has this permission.", holder)
}

// Sentence says what a grant allows.
func Sentence(g identity.Grant) string {
	at := g.Resource
	switch g.Permission {
	case identity.SysAdmin:
		return "Administers the whole system, users included."
	case identity.Admin:
		return "Administers all rules, reports and settings."
	case identity.ProjectAdmin:
		return fmt.Sprintf("Administers the project %s of %s.", at.Project, at.Connection)
	default:
		return fmt.Sprintf("Administers the repository %s/%s of %s.", at.Project, at.Repository, at.Connection)
	}
}

// Form is the form of a grant. The template "resource-fields" shows the fields
// that say what it is for.
type Form struct {
	*console.Form
	Permissions []console.Option
	Connections []string
	Back        string // where the way out leads
}

// Permissions are what can be granted to a group, in the words of the form.
var Permissions = []console.Option{
	{Value: string(identity.RepoAdmin), Label: "A repository", Hint: "its rules, reports, events and deliveries"},
	{Value: string(identity.ProjectAdmin), Label: "A project",
		Hint: "its rules, reports, events and deliveries, and those of its repositories"},
	{Value: string(identity.Admin), Label: "All rules, reports and settings"},
}

// Blank is a form with a repository as the choice and, where there is only one,
// the connection filled in.
func Blank(connections []string) *console.Form {
	form := console.NewForm().Set("permission", string(identity.RepoAdmin))
	if len(connections) == 1 {
		form.Set("connection", connections[0])
	}
	return form
}

// Read reads from a posted form which permission is granted, and for what.
// Invalid, with every error at its field, where the connection is none of
// connections or judge refuses it.
func Read(
	form *console.Form, connections []string, judge func(identity.Permission, identity.Resource) error,
) (identity.Permission, identity.Resource, error) {
	perm := identity.Permission(form.Get("permission"))
	at := identity.Resource{Connection: form.Get("connection"), Project: form.Get("projectKey"), Repository: form.Get("repositoryKey")}
	if perm == identity.SysAdmin || perm == identity.Admin {
		at = identity.Resource{} // the fields are for the other two, and may be filled in advance
	}
	var wrong fault.Fields
	if at.Connection != "" && !slices.Contains(connections, at.Connection) {
		wrong.Add("connection", "There is no connection %q.", at.Connection)
	}
	if err := wrong.Join(judge(perm, at)); err != nil {
		return perm, at, err
	}
	return perm, at, wrong.Err()
}

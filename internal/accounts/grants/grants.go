// Package grants is what the console's pages about users and about groups share:
// the form that grants a permission, and the grants that are listed.
package grants

import (
	"fmt"
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

// Package api is the audit trail in the REST API.
package api

import (
	"outrigger/internal/audit"
	"outrigger/internal/identity"
)

// visibleTo says which entries a user may see: a SYS_ADMIN all, an ADMIN those
// about the three services, others those about what they administer.
func visibleTo(p *identity.Principal) audit.Visible {
	var v audit.Visible
	switch {
	case p.May(identity.SysAdmin, identity.Resource{}):
		v.All = true
		return v
	case p.May(identity.Admin, identity.Resource{}):
		v.Areas = []string{"notifications", "mail", "threads"}
		return v
	case p == nil:
		return v
	}
	for _, g := range p.Grants {
		if r := g.Resource; r.Project != "" {
			v.Places = append(v.Places, audit.Place{Connection: r.Connection, Project: r.Project, Repository: r.Repository})
		}
	}
	return v
}

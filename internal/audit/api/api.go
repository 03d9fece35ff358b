// Package api is the audit trail in the REST API.
package api

import (
	"context"
	"strconv"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// Path is the path of the audit trail.
const Path = "/rest/outrigger/1.0/audit"

const notificationsPath = "/rest/mtbs/1.0/configuration/audit"

// API answers from the database.
type API struct{ DB *db.DB }

// whoSees is said of all of it.
const whoSees = "A `SYS_ADMIN` sees everything, an `ADMIN` what is about the three services, others what is about the projects " +
	"and repositories that they administer. Secrets are masked."

// Register adds the operations.
func (a *API) Register(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: Path, Access: rest.SignedIn}, rest.Words{
		ID: "listAudit", Tag: "operation", Summary: "Lists who changed what, the newest first.", Text: whoSees,
		Answer: "A page of entries.",
	}, a.list, rest.Example[query, rest.List[AuditEntry]]{Name: "page", Out: &examplePage})
	rest.Serve[filter, rest.None](r, rest.Route{Method: "GET", Path: Path + "/export", Access: rest.SignedIn, Own: true}, rest.Words{
		ID: "exportAudit", Tag: "operation", Summary: "Returns the audit trail as CSV, the newest first.", Text: whoSees,
		Media:  []string{"text/csv"},
		Answer: "The entries, below a line with the names of the columns. A cell that a spreadsheet would run begins with an apostrophe.",
	}, a.export)
	rest.Add(r, rest.Route{Method: "GET", Path: notificationsPath, Access: rest.SignedIn}, rest.Words{
		ID: "listNotificationAudit", Tag: "operation", Summary: "Lists who changed what about notifications, the newest first.",
		Text:   whoSees,
		Answer: "A page of entries.",
	}, a.listNotifications, rest.Example[notificationsQuery, rest.List[AuditEntry]]{Name: "page", Out: &examplePage})
}

var examplePage = rest.List[AuditEntry]{Items: []AuditEntry{{ID: 4712, Entry: audit.Entry{
	At: time.Date(2026, 2, 5, 16, 1, 0, 0, time.UTC), Who: "ada", Source: identity.Local, Address: "192.0.2.7",
	Area: "notifications", Action: "update", Object: "rule", ObjectID: "7", ObjectName: "Releases", Connection: "main",
	Before: map[string]string{"enabled": "true"}, After: map[string]string{"enabled": "false"},
}}}}

// AuditEntry is an entry as the API lists it.
type AuditEntry audit.Stored

// common are the filters of every list of entries.
type common struct {
	Who    string    `query:"who" doc:"The name of the user, without case."`
	Action string    `query:"action" doc:"What was done, such as create."`
	Object string    `query:"object" doc:"To what kind of thing, such as rule."`
	Since  time.Time `query:"since" doc:"From this time on."`
	Until  time.Time `query:"until" doc:"Before this time."`
}

type filter struct {
	common
	Area string `query:"area" enum:"notifications,mail,threads,identity,system" doc:"The part of the program."`
}

type query struct {
	filter
	Page rest.Page
}

type notificationsQuery struct {
	common
	Page rest.Page
}

func (f *filter) entries() audit.Filter {
	return audit.Filter{Who: f.Who, Area: f.Area, Action: f.Action, Object: f.Object, Since: f.Since, Until: f.Until}
}

func (a *API) listNotifications(ctx context.Context, in notificationsQuery) (rest.List[AuditEntry], error) {
	return a.list(ctx, query{filter{in.common, "notifications"}, in.Page})
}

func (a *API) list(ctx context.Context, in query) (list rest.List[AuditEntry], err error) {
	f := in.entries()
	if f.Before, err = in.Page.AfterID(); err != nil {
		return list, err
	}
	f.Limit = in.Page.Limit + 1
	found, err := a.Entries(ctx, f)
	return rest.NewList(in.Page, found, err,
		func(e audit.Stored) string { return strconv.FormatInt(e.ID, 10) }, func(e audit.Stored) AuditEntry { return AuditEntry(e) })
}

// Entries returns the entries that the user of ctx may see, the newest first.
func (a *API) Entries(ctx context.Context, f audit.Filter) (found []audit.Stored, err error) {
	visible := visibleTo(identity.From(ctx))
	return db.Read(ctx, a.DB, func(tx *db.Tx) ([]audit.Stored, error) { return audit.List(ctx, tx, visible, f) })
}

// Total counts those entries on all pages, to most, where that is known.
func (a *API) Total(ctx context.Context, f audit.Filter, most int) (n int, known bool, err error) {
	visible := visibleTo(identity.From(ctx))
	err = a.DB.Read(ctx, func(tx *db.Tx) error {
		n, known, err = audit.Count(ctx, tx, visible, f, most)
		return err
	})
	return n, known, err
}

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

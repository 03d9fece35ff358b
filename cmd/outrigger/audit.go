package main

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"outrigger/internal/audit/api"
	"outrigger/internal/config"
)

type auditCmd struct {
	List   auditListCmd   `cmd:"" help:"List changes, newest first."`
	Export auditExportCmd `cmd:"" help:"Export changes as CSV."`
}

// auditFilter narrows the audit trail.
type auditFilter struct {
	Who    string          `help:"Only changes by this user." placeholder:"NAME"`
	Area   string          `help:"${area}" enum:",notifications,mail,threads,identity,system" default:"" placeholder:"AREA"`
	Action string          `help:"Only this action, such as create, update or delete." placeholder:"ACTION"`
	Object string          `help:"Only this kind of object, such as rule, connection or token." placeholder:"KIND"`
	Since  config.Duration `help:"How far back to look, such as 24h or 30d. Default: everything." placeholder:"TIME"`
}

func (f auditFilter) query() url.Values {
	q := queryOf(map[string]string{"who": f.Who, "area": f.Area, "action": f.Action, "object": f.Object})
	setSince(q, f.Since)
	return q
}

type auditListCmd struct {
	askFlags
	auditFilter
}

func (c auditListCmd) Run(ctx context.Context, s streams) error {
	header := []string{"WHEN", "WHO", "ADDRESS", "AREA", "WHAT", "REPOSITORY", "CHANGES"}
	return printAll(ctx, s, c.askFlags, api.Path, c.query(), header, func(e *api.AuditEntry) []string {
		return []string{
			stamp(e.At), dash(e.Who), dash(e.Address), e.Area, what(e),
			dash(strings.Trim(e.Project+"/"+e.Repository, "/")), dash(oneLine(changed(e))),
		}
	})
}

// what names what was done, and to which thing.
func what(e *api.AuditEntry) string {
	text := strings.TrimSpace(e.Action + " " + e.Object + " " + e.ObjectID)
	if e.ObjectName != "" {
		text += " (" + oneLine(e.ObjectName) + ")"
	}
	return text
}

// changed lists the members that changed, with what they are now.
func changed(e *api.AuditEntry) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(e.After)) {
		parts = append(parts, name+"="+e.After[name])
	}
	return strings.Join(parts, " ")
}

type auditExportCmd struct {
	clientFlags
	auditFilter
	Out string `help:"The file to write; - is standard output." default:"-" placeholder:"FILE"`
}

func (c auditExportCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	resp, err := server.ask(ctx, http.MethodGet, api.Path+"/export?"+c.query().Encode(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if c.Out == "-" {
		_, err = io.Copy(s.out, resp.Body)
		return err
	}
	_, err = saveWhole(c.Out, resp.Body, func(part string) error { return os.Rename(part, c.Out) })
	return err
}

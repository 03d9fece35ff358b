package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"outrigger/internal/notify/api"
)

type reportsCmd struct {
	List reportListCmd `cmd:"" help:"List activity reports."`
	View reportViewCmd `cmd:"" help:"Show what a report says now. Nothing is sent."`
	Test reportTestCmd `cmd:"" help:"Send what a report says now to its channel."`
}

type reportListCmd struct {
	askFlags
	Connection string `help:"The connection; not needed when there is only one. Only reports of this connection." placeholder:"NAME"`
	Project    string `help:"Only reports of this project, or workspace of a cloud platform. Needed unless you have ADMIN." placeholder:"KEY"`
	Repository string `help:"Only reports of this repository. Needs --project. Needed unless you administer the project." placeholder:"SLUG"`
}

func (c reportListCmd) Run(ctx context.Context, s streams) error {
	if c.Repository != "" && c.Project == "" {
		return usage("--repository needs --project")
	}
	server, err := c.client()
	if err != nil {
		return err
	}
	found, err := c.list(ctx, server)
	if err != nil {
		return err
	}
	header := []string{"ID", "NAME", "CONNECTION", "REPOSITORY", "STATE", "FREQUENCY", "TIME", "NEXT RUN", "LAST RUN", "OUTCOME", "ERROR"}
	return printList(s, c.JSON, found, header, func(r *api.Report) []string {
		state := "enabled"
		if r.Enabled == nil || !*r.Enabled {
			state = "disabled"
		}
		return []string{
			strconv.FormatInt(r.ID, 10), oneLine(r.Name), r.Connection, r.ProjectKey + "/" + r.RepositoryKey, state,
			strings.TrimSpace(string(r.Frequency) + " " + r.Day), r.Time + " " + r.TimeZone,
			stamp(r.NextRunAt), stamp(r.LastRunAt), dash(string(r.LastOutcome)), dash(oneLine(r.LastError)),
		}
	})
}

// list asks for the reports of a repository, or for all pages of more of them.
func (c reportListCmd) list(ctx context.Context, server *client) (found []api.Report, err error) {
	q := queryOf(map[string]string{"connection": c.Connection, "projectKey": c.Project, "repositoryKey": c.Repository})
	if c.Repository == "" {
		return list[api.Report](ctx, server, api.ReportsPath, q)
	}
	found = []api.Report{}
	return found, server.do(ctx, "GET", api.ReportsPath+"?"+q.Encode(), nil, &found)
}

type reportViewCmd struct {
	askFlags
	Format string `help:"${report_format}" enum:",teams,slack,html" default:"" placeholder:"FORMAT"`
	ID     int64  `arg:"" help:"The report's id."`
}

// nameOf is what people call a person.
func nameOf(p api.Person) string { return cmp.Or(p.DisplayName, p.Name) }

func (c reportViewCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	path := api.ReportsPath + "/" + strconv.FormatInt(c.ID, 10) + "/view"
	if c.Format != "" {
		return c.card(ctx, server, path+"?format="+c.Format, s.out)
	}
	var is api.ReportView
	if err := server.do(ctx, "GET", path, nil, &is); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, is)
	}
	days := strconv.Itoa(is.InactivityDays) + " days"
	if is.InactivityDays == 1 {
		days = "1 day"
	}
	if _, err := fmt.Fprintf(s.out, "# %d open, %d inactive for %s or more\n", is.Open, is.Inactive, days); err != nil {
		return err
	}
	if len(is.Oldest) == 0 {
		return nil
	}
	rows := make([][]string, len(is.Oldest))
	for i, p := range is.Oldest {
		var waits []string
		for _, who := range p.WaitsFor {
			waits = append(waits, oneLine(nameOf(who)))
		}
		if p.WaitsForMore > 0 {
			waits = append(waits, fmt.Sprintf("%d more", p.WaitsForMore))
		}
		rows[i] = []string{
			strconv.FormatInt(p.ID, 10), strconv.Itoa(p.IdleDays), dash(oneLine(p.Title)), dash(oneLine(nameOf(p.Author))), dash(p.Target),
			dash(strings.Join(waits, ", ")),
		}
	}
	return printRows(s.out, []string{"ID", "DAYS IDLE", "TITLE", "AUTHOR", "TARGET", "WAITS FOR"}, rows)
}

// card prints the card in a format.
func (c reportViewCmd) card(ctx context.Context, server *client, path string, out io.Writer) error {
	if c.Format == "html" {
		return server.copyTo(ctx, out, path)
	}
	var body, indented bytes.Buffer
	if err := server.copyTo(ctx, &body, path); err != nil {
		return err
	}
	if err := json.Indent(&indented, body.Bytes(), "", "  "); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	indented.WriteByte('\n')
	_, err := out.Write(indented.Bytes())
	return err
}

type reportTestCmd struct {
	askFlags
	ID int64 `arg:"" help:"The report's id."`
}

func (c reportTestCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	var stored json.RawMessage // sent back as it is: the mask of the webhook URL means the stored one
	if err := server.do(ctx, "GET", api.ReportsPath+"?id="+strconv.FormatInt(c.ID, 10), nil, &stored); err != nil {
		return err
	}
	var done api.Tested
	if err := server.do(ctx, "POST", api.ReportsPath+"/test", stored, &done); err != nil {
		return err
	}
	return sayTested(s, c.JSON, &done, "the report")
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/notify/api"
)

const reportsPath = "/rest/mtbs/1.0/configuration/reports"

type reportsCmd struct {
	List reportListCmd `cmd:"" help:"List activity reports."`
	View reportViewCmd `cmd:"" help:"Show what a report says now. Nothing is sent."`
	Test reportTestCmd `cmd:"" help:"Send what a report says now to its channel."`
}

// activityReport is an activity report as the server lists it.
type activityReport struct {
	ID             int64     `json:"id"`
	Version        int64     `json:"version"`
	Name           string    `json:"name"`
	Connection     string    `json:"connection"`
	ProjectKey     string    `json:"projectKey"`
	RepositoryKey  string    `json:"repositoryKey"`
	WebhookURL     string    `json:"webhookUrl,omitempty"`
	ChannelName    string    `json:"channelName,omitempty"`
	Channel        string    `json:"channel"`
	InactivityDays int       `json:"inactivityDays"`
	Frequency      string    `json:"frequency"`
	Day            string    `json:"day,omitempty"`
	Time           string    `json:"time"`
	TimeZone       string    `json:"timeZone"`
	Enabled        bool      `json:"enabled"`
	NextRunAt      time.Time `json:"nextRunAt,omitzero"`
	LastRunAt      time.Time `json:"lastRunAt,omitzero"`
	LastOutcome    string    `json:"lastOutcome,omitempty"`
	LastDelivery   int64     `json:"lastDelivery,omitempty"`
	LastError      string    `json:"lastError,omitempty"`
}

type reportListCmd struct {
	askFlags
	Connection string `help:"The connection; not needed when there is only one. Only reports of this connection." placeholder:"NAME"`
	Project    string `help:"Only reports of the project with this key; on a cloud platform, of this workspace. Needed by all but administrators (ADMIN)." placeholder:"KEY"`
	Repository string `help:"Only reports of this repository. Needs --project. Needed by all but who administers the project." placeholder:"SLUG"`
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
	if c.JSON {
		return printJSON(s.out, found)
	}
	rows := make([][]string, len(found))
	for i, r := range found {
		state := "enabled"
		if !r.Enabled {
			state = "disabled"
		}
		rows[i] = []string{
			strconv.FormatInt(r.ID, 10), oneLine(r.Name), r.Connection, r.ProjectKey + "/" + r.RepositoryKey, state, strings.TrimSpace(r.Frequency + " " + r.Day), r.Time + " " + r.TimeZone,
			stamp(r.NextRunAt), stamp(r.LastRunAt), dash(r.LastOutcome), dash(oneLine(r.LastError)),
		}
	}
	return printRows(s.out, []string{"ID", "NAME", "CONNECTION", "REPOSITORY", "STATE", "FREQUENCY", "TIME", "NEXT RUN", "LAST RUN", "OUTCOME", "ERROR"}, rows)
}

// list asks for the reports of a repository, or for all pages of more of them.
func (c reportListCmd) list(ctx context.Context, server *client) (found []activityReport, err error) {
	q := url.Values{}
	for name, value := range map[string]string{"connection": c.Connection, "projectKey": c.Project, "repositoryKey": c.Repository} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if c.Repository == "" {
		return list[activityReport](ctx, server, reportsPath, q)
	}
	found = []activityReport{}
	return found, server.do(ctx, "GET", reportsPath+"?"+q.Encode(), nil, &found)
}

type reportViewCmd struct {
	askFlags
	Format string `help:"The message as it would be sent to Teams or Slack, or an HTML page that shows it. Default: the figures and a line for each inactive pull request." enum:",teams,slack,html" default:"" placeholder:"FORMAT"`
	ID     int64  `arg:"" help:"The report's id."`
}

// reportFigures are what a report says now.
type reportFigures struct {
	ID             int64             `json:"id"`
	Name           string            `json:"name"`
	AskedAt        time.Time         `json:"askedAt"`
	Open           int               `json:"open"`
	Drafts         int               `json:"drafts,omitempty"`
	InactivityDays int               `json:"inactivityDays"`
	Inactive       int               `json:"inactive"`
	Oldest         []idlePullRequest `json:"oldest"`
}

type idlePullRequest struct {
	ID           int64    `json:"id"`
	Title        string   `json:"title"`
	Author       person   `json:"author"`
	Target       string   `json:"target,omitempty"`
	URL          string   `json:"url,omitempty"`
	IdleDays     int      `json:"idleDays"`
	WaitsFor     []person `json:"waitsFor"`
	WaitsForMore int      `json:"waitsForMore,omitempty"`
}

type person struct {
	Name        string `json:"name,omitempty"`
	DisplayName string `json:"displayName,omitempty"`
}

func (p person) String() string {
	if p.DisplayName != "" {
		return p.DisplayName
	}
	return p.Name
}

func (c reportViewCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	path := reportsPath + "/" + strconv.FormatInt(c.ID, 10) + "/view"
	if c.Format != "" {
		return c.card(ctx, server, path+"?format="+c.Format, s.out)
	}
	var is reportFigures
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
			waits = append(waits, oneLine(who.String()))
		}
		if p.WaitsForMore > 0 {
			waits = append(waits, fmt.Sprintf("%d more", p.WaitsForMore))
		}
		rows[i] = []string{
			strconv.FormatInt(p.ID, 10), strconv.Itoa(p.IdleDays), dash(oneLine(p.Title)), dash(oneLine(p.Author.String())), dash(p.Target), dash(strings.Join(waits, ", ")),
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
	if err := server.do(ctx, "GET", reportsPath+"?id="+strconv.FormatInt(c.ID, 10), nil, &stored); err != nil {
		return err
	}
	var done api.Tested
	if err := server.do(ctx, "POST", reportsPath+"/test", stored, &done); err != nil {
		return err
	}
	return sayTested(s, c.JSON, &done, "the report")
}

package pages

import (
	"context"
	"embed"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/api"
	"outrigger/internal/threads/source"
	"outrigger/internal/threads/store"
)

//go:embed threads-source.html threads-source-imported.html
var sourceFiles embed.FS

// Source is the self-hosted side's part of the console.
type Source struct {
	Store   *store.Source
	Imports *source.Imports
	Mirror  *source.Mirror // nil: the hierarchy comes from files
	Metrics *source.Metrics
}

const pagePath = "/threads/source"

// Register adds the pages.
func (p *Source) Register(c *console.Console) {
	admin := console.Needs(identity.SysAdmin)
	c.AddPages(sourceFiles)
	c.AddNav(console.Nav{Section: "Threaded comments", Label: "Self-hosted side", Path: pagePath, Visible: administers})
	c.Handle("GET "+pagePath, admin, p.show, "threads-source")
	c.Handle("POST "+pagePath+"/hierarchy", admin, p.importHierarchy, "threads-source", "threads-source-imported")
	c.Handle("GET "+pagePath+"/clear", admin, p.confirmClear)
	c.Handle("POST "+pagePath+"/clear", admin, p.clear)
	c.Handle("POST "+pagePath+"/mappings", admin, p.importMappings, "threads-source", "threads-source-imported")
	c.Handle("GET "+pagePath+"/forget", admin, p.confirmForget)
	c.Handle("POST "+pagePath+"/forget", admin, console.WithForm(p.forget))
	c.Handle("GET "+pagePath+"/mirror", admin, p.confirmMirror)
	c.Handle("POST "+pagePath+"/mirror", admin, console.WithForm(p.mirror))
}

// sourceView is what the page shows.
type sourceView struct {
	*console.Form
	threads.SourceState
	SQL       bool
	Failed    bool
	Sites     []siteRow
	ExportURL string
	ReportURL string
	ScriptURL string
	Script    string
}

type siteRow struct {
	threads.Site
	Comments, Issues, Others int64
	Report                   console.Badge
	Detail                   string
	MadeAt                   time.Time
}

func (p *Source) show(r *http.Request) (console.Response, error) {
	return p.page(r.Context(), console.NewForm())
}

func (p *Source) page(ctx context.Context, form *console.Form) (console.Page, error) {
	page := console.Page{Template: "threads-source", Title: "Self-hosted side"}
	st, err := p.Store.State(ctx)
	if err != nil {
		return page, err
	}
	sites, err := p.Store.Sites(ctx)
	if err != nil {
		return page, err
	}
	reports, err := p.Store.Reports(ctx)
	if err != nil {
		return page, err
	}
	view := sourceView{
		Form: form, SourceState: st, SQL: p.Mirror != nil, Failed: p.Mirror != nil && st.Failure != "",
		ExportURL: rest.Link(ctx, api.ExportPath), ReportURL: rest.Link(ctx, api.ReportPath) + "?cloudSiteUrl=https://…",
		ScriptURL: api.ScriptPath, Script: source.ArchiveName,
	}
	for _, s := range sites {
		view.Sites = append(view.Sites, rowOf(s, reports))
	}
	page.Data = view
	return page, nil
}

func rowOf(s threads.Site, reports map[int64]threads.Report) siteRow {
	row := siteRow{Site: s, Report: console.Badge{Tone: console.Quiet, Text: "made on request"}}
	for _, k := range s.Kinds {
		switch k.EntityType {
		case threads.EntityComment:
			row.Comments = k.Mappings
		case threads.EntityIssue:
			row.Issues = k.Mappings
		default:
			row.Others += k.Mappings
		}
	}
	report, ok := reports[s.ID]
	switch {
	case !ok:
	case report.State == threads.ReportMaking:
		row.Report = console.Badge{Tone: console.Busy, Text: "being made"}
	case report.State == threads.ReportFailed:
		row.Report, row.Detail = console.Badge{Tone: console.Bad, Text: "failed"}, report.Failure
	case report.Current(s):
		row.Report, row.MadeAt = console.Badge{Tone: console.Good, Text: "ready"}, report.ChangedAt
	}
	return row
}

// importedView is what became of a file.
type importedView struct {
	What string
	threads.ImportCounts
	Total      int64
	Incomplete []string
	Reading    threads.Reading
}

func (p *Source) importHierarchy(r *http.Request) (console.Response, error) {
	page, err := p.page(r.Context(), console.NewForm())
	if err != nil {
		return nil, err
	}
	var out source.HierarchyImport
	err = p.upload(r, func(_ *console.Form, file io.Reader) (err error) {
		out, err = p.Imports.Hierarchy(r.Context(), file)
		return err
	}, console.NewForm())
	p.Metrics.Imported(out.ImportCounts)
	if err != nil {
		return page, err
	}
	return p.imported("The hierarchy", importedView{
		ImportCounts: out.ImportCounts, Total: out.Total, Incomplete: out.Incomplete, Reading: out.Reading,
	}), nil
}

func (p *Source) importMappings(r *http.Request) (console.Response, error) {
	form := console.NewForm()
	page, err := p.page(r.Context(), form)
	if err != nil {
		return nil, err
	}
	var out source.MappingImport
	err = p.upload(r, func(form *console.Form, file io.Reader) (err error) {
		out, err = p.Imports.Mappings(r.Context(), form.Get("cloudSiteUrl"), file)
		return err
	}, form)
	var wrong fault.Fields
	if err = wrong.Join(err); err == nil && len(wrong) > 0 {
		if _, ok := threads.SiteURL(form.Get("cloudSiteUrl")); !ok {
			_ = wrong.Join(threads.ErrSiteURL()) // it names its member
		}
		err = wrong.Err()
	}
	p.Metrics.Imported(out.ImportCounts)
	if err != nil {
		return page, err
	}
	return p.imported("The mappings of "+out.CloudSiteURL, importedView{
		ImportCounts: out.ImportCounts, Total: out.Total, Incomplete: out.Incomplete, Reading: out.Reading,
	}), nil
}

func (p *Source) imported(what string, view importedView) console.Response {
	view.What = what
	return console.Page{
		Template: "threads-source-imported", Title: "Imported", Data: view,
		Up: []console.Link{{Label: "Self-hosted side", Path: pagePath}},
	}
}

// upload reads a posted form up to its file, fields into form, and returns the
// file to take as it comes.
func (p *Source) upload(r *http.Request, take func(form *console.Form, file io.Reader) error, form *console.Form) error {
	parts, err := formOf(r, p.Imports.MaxUpload)
	if err != nil {
		return err
	}
	for {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return errNoSourceFile()
		case err != nil:
			return tooLarge(err, p.Imports.MaxUpload)
		case part.FormName() != "file":
			value, err := io.ReadAll(io.LimitReader(part, maxField))
			if err != nil {
				return tooLarge(err, p.Imports.MaxUpload)
			}
			form.Set(part.FormName(), strings.ToValidUTF8(string(value), "�"))
		case part.FileName() == "":
			return errNoSourceFile()
		default:
			return tooLarge(take(form, part), p.Imports.MaxUpload)
		}
	}
}

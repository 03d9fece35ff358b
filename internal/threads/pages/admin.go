// Package pages is the wing's part of the console: the admin tool of the cloud
// side, and the self-hosted side.
package pages

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/threads"
	"outrigger/internal/threads/admin"
)

//go:embed threads-backup.html threads-errors.html threads-issue.html threads-migration.html
//go:embed threads-parts.html threads-preview.html threads-verify.html
var adminFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// Admin is the admin tool's part of the console.
type Admin struct{ *admin.Tool }

const (
	title     = "Threaded Comments Admin"
	rootPath  = "/threads/admin"
	movePath  = rootPath + "/migration"
	backPath  = rootPath + "/backup"
	issuePath = rootPath + "/issue"

	// liveEvery is how often progress is looked at for a page.
	liveEvery = time.Second

	pageSize = 100 // rows of a list
)

// Register adds the pages.
func (p *Admin) Register(c *console.Console) {
	admin := console.Needs(identity.SysAdmin)
	c.AddPages(adminFiles)
	c.AddAssets(console.Sub(assetFiles, "assets"))
	c.AddNav(console.Nav{Section: "Threaded comments", Label: title, Path: rootPath, Visible: administers})
	c.AddOverview(p.overview)
	c.AddFinder(p.find)
	handle := func(pattern string, h console.Handler, templates ...string) {
		c.Handle(pattern, admin, h, templates...)
	}
	handle("GET "+rootPath, func(*http.Request) (console.Response, error) { return console.Redirect{To: movePath}, nil })

	handle("GET "+movePath, p.showMigration, "threads-migration")
	handle("GET "+movePath+"/live", live("threads-migration", "threads-status", movePath, p.migration), "threads-migration")
	handle("POST "+movePath+"/files", p.takeFile, "threads-migration")
	for _, op := range threads.Operations() {
		handle("GET "+movePath+"/"+string(op), p.confirm(op), "threads-migration")
		handle("POST "+movePath+"/"+string(op), p.operate(op), "threads-migration")
	}
	handle("GET "+movePath+"/preview", p.showPreview, "threads-preview")
	handle("GET "+movePath+"/preview/live", live("threads-preview", "threads-previewed", movePath+"/preview", p.preview), "threads-preview")
	handle("GET "+movePath+"/errors", p.showErrors, "threads-errors")
	handle("GET "+movePath+"/verify", p.showVerify, "threads-verify")
	handle("GET "+movePath+"/verify/live", live("threads-verify", "threads-verified", movePath+"/verify", p.verified), "threads-verify")
	handle("POST "+movePath+"/verify", p.verify, "threads-verify")

	handle("GET "+backPath, p.showBackup, "threads-backup")
	handle("GET "+backPath+"/live", live("threads-backup", "threads-restoring", backPath, p.backups), "threads-backup")
	handle("POST "+backPath+"/files", p.takeBackup, "threads-backup")
	handle("GET "+backPath+"/restore", p.confirmRestore, "threads-backup")
	handle("POST "+backPath+"/restore", console.WithForm(p.restore), "threads-backup")

	handle("GET "+rootPath+"/uploads/{id}/delete", p.confirmDelete)
	handle("POST "+rootPath+"/uploads/{id}/delete", p.delete)
	handle("GET "+issuePath, p.showIssue, "threads-issue")
}

// refused is a page with what was refused.
func refused(ctx context.Context, page func(context.Context) (console.Page, error), err error) (console.Response, error) {
	shown, failed := page(ctx)
	if failed != nil {
		return nil, failed
	}
	return shown, err
}

// live is a part of a page that shows how something goes on.
func live[T any](template, part, topic string, data func(context.Context) (T, error)) console.Handler {
	return func(*http.Request) (console.Response, error) {
		return console.Live{
			Template: template, Part: part, Every: liveEvery, Topic: topic,
			Data: func(ctx context.Context) (any, error) { return data(ctx) },
		}, nil
	}
}

func administers(who *identity.Principal) bool {
	return who.May(identity.SysAdmin, identity.Resource{})
}

// tabs are the two views, named as the seed of this wing names them.
func tabs(current string) []console.Tab {
	list := []console.Tab{{Label: "Backup & Restore", Path: backPath}, {Label: "DC -> Cloud Migration", Path: movePath}}
	for i := range list {
		list[i].Current = list[i].Path == current
	}
	return list
}

// up leads from a page below a tab to it.
var up = []console.Link{{Label: title, Path: movePath}}

// statusBadge is the status in its colour.
func statusBadge(s *threads.MigrationStatus) console.Badge {
	tone := console.Quiet
	switch {
	case s.Status == threads.InProgress || s.Phase == threads.PhaseLoading:
		tone = console.Busy
	case s.Status == threads.Completed && s.Errors.Permanent == 0 && len(s.Incomplete) == 0:
		tone = console.Good
	case s.Status == threads.Completed || s.Phase == threads.PhasePaused:
		tone = console.Warn
	case s.Status == threads.Failed:
		tone = console.Bad
	}
	return console.Badge{Tone: tone, Text: statusWord(s)}
}

// size writes bytes as people read them.
func size(n int64) string {
	const kib, mib, gib = 1 << 10, 1 << 20, 1 << 30
	switch {
	case n < kib:
		return fmt.Sprintf("%d bytes", n)
	case n < mib:
		return fmt.Sprintf("%.1f KiB", float64(n)/kib)
	case n < gib:
		return fmt.Sprintf("%.1f MiB", float64(n)/mib)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/gib)
}

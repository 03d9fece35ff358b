package pages

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/threads"
	"outrigger/internal/threads/api"
	"outrigger/internal/threads/format"
)

// backupView is what the tab of backups shows.
type backupView struct {
	*console.Form
	File    fileView
	Restore *threads.Restoration // nil: there was none
	Percent int
	Badge   console.Badge
	Modes   []console.Option
	Backup  string
	Target  string
}

func (p *Admin) showBackup(r *http.Request) (console.Response, error) {
	return p.backupPage(r.Context())
}

func (p *Admin) backupPage(ctx context.Context) (console.Page, error) {
	view, err := p.backups(ctx)
	return console.Page{Template: "threads-backup", Title: title, Tabs: tabs(backPath), Data: view}, err
}

func (p *Admin) backups(ctx context.Context) (*backupView, error) {
	view := &backupView{
		Form: console.NewForm().Set("mode", string(threads.RestoreMerge)), Backup: api.MigrationPath + "/backup", Target: p.Store.Target(),
		File: fileView{
			Kind: threads.BackupFile, Label: "Backup file", Hint: "A backup that was downloaded here; its name ends in .ndjson.gz.", Accept: ".gz",
			Uploads: api.UploadsPath, Action: backPath + "/files",
		},
		Modes: []console.Option{
			{Value: string(threads.RestoreMerge), Label: "Merge", Hint: "keep relations and issues that are not in the backup"},
			{Value: string(threads.RestoreReplace), Label: "Replace", Hint: "delete everything that is not in the backup"},
		},
	}
	list, err := p.Store.Uploads.List(ctx)
	if err != nil {
		return nil, err
	}
	view.File.find(list)
	if view.Restore, err = p.Restoration(ctx); err != nil || view.Restore == nil {
		return view, err
	}
	switch d := view.Restore; d.State {
	case threads.JobRunning:
		view.Badge = console.Badge{Tone: console.Busy, Text: "running"}
		if d.Issues > 0 {
			view.Percent = int(min(d.Done*100/d.Issues, 99))
		}
	case threads.JobFailed:
		view.Badge = console.Badge{Tone: console.Bad, Text: "failed"}
	default:
		view.Badge, view.Percent = console.Badge{Tone: console.Good, Text: "done"}, 100
	}
	return view, nil
}

func (p *Admin) takeBackup(r *http.Request) (console.Response, error) {
	if _, err := p.posted(r, threads.BackupFile); err != nil {
		return refused(r.Context(), p.backupPage, err)
	}
	return console.Redirect{To: backPath, Flash: "The backup is uploaded. You can restore it now."}, nil
}

// confirmRestore asks before a backup is restored; the file is checked now,
// so that what cannot be done is not offered.
func (p *Admin) confirmRestore(r *http.Request) (console.Response, error) {
	mode, err := threads.ParseRestoreMode(r.URL.Query().Get("mode"))
	if err != nil {
		return refused(r.Context(), p.backupPage, err)
	}
	id, _ := strconv.ParseInt(r.URL.Query().Get("upload"), 10, 64) // 0 is none
	file, err := p.SentBackup(r.Context(), id)
	if err != nil {
		return refused(r.Context(), p.backupPage, err)
	}
	backup, err := format.CheckBackup(p.Store.Uploads.Reader(r.Context(), file))
	if err != nil {
		return refused(r.Context(), p.backupPage, err)
	}
	what := fmt.Sprintf("The backup of %s has %s in %s.", backup.Header.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"),
		threads.Counted(backup.Trailer.Relations, "relation"), threads.Counted(backup.Trailer.Issues, "issue"))
	question := console.Confirm{
		Title: "Merge the backup into the current threads?", Verb: "Restore", Keep: "Leave the threads as they are", Back: backPath,
		Form: []console.Hidden{{Name: "mode", Value: string(mode)}, {Name: "upload", Value: strconv.FormatInt(id, 10)}},
		Text: what + " If both have a comment, its parent in the backup wins. Everything else stays.",
	}
	if mode == threads.RestoreReplace {
		question.Title, question.Verb, question.Text = "Replace everything with the backup?", "Replace", what+" Everything else is deleted."
		question.Losses = []string{"every relation that is not in the backup", "the threads of every issue that is not in the backup"}
	}
	return question, nil
}

func (p *Admin) restore(r *http.Request, form *console.Form) (console.Response, error) {
	mode, err := threads.ParseRestoreMode(form.Get("mode"))
	if err != nil {
		return refused(r.Context(), p.backupPage, err)
	}
	id, _ := strconv.ParseInt(form.Get("upload"), 10, 64) // 0 is none
	file, err := p.SentBackup(r.Context(), id)
	if err == nil {
		err = p.Restore(r.Context(), mode, file)
	}
	if err != nil {
		return refused(r.Context(), p.backupPage, err)
	}
	return console.Redirect{To: backPath, Flash: "The backup is complete and is being restored."}, nil
}

package api

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
)

func (a *Admin) registerBackup(r *rest.Router) {
	rest.Serve[struct{}, string](r, rest.Route{Method: "GET", Path: MigrationPath + "/backup", Access: rest.SysAdmins, Own: true}, rest.Words{
		ID: "backUpThreads", Tag: tag, Summary: "Returns a backup of every thread.", Media: []string{"application/gzip"},
		Text: "Needs `SYS_ADMIN`. An answer that breaks off has no last line, and is no backup.",
		Answer: "Lines of JSON, packed with gzip: the first with format and version, one for each issue in the order of their ids, " +
			"the last with their count and the SHA-256 of all lines before it.",
	}, a.backup)
	rest.Add(r, rest.Route{Method: "GET", Path: MigrationPath + "/restore", Access: rest.SysAdmins}, rest.Words{
		ID: "showRestore", Tag: tag, Summary: "Returns the progress of the last restore.", Text: needsSysAdmin, Answer: "How far it is.",
		Refused: []int{http.StatusNotFound}, RefusedFor: map[int]string{http.StatusNotFound: "There was none."},
	}, a.showRestore, []rest.Example[struct{}, threads.Restoration]{
		{Name: "running", Out: &exampleRestoration}, {Name: "fresh", Err: fault.New(fault.NotFound, "No backup has been restored yet.")},
	}...)
	rest.Serve[restoring, threads.Restoration](r,
		rest.Route{Method: "POST", Path: MigrationPath + "/restore", Access: rest.SysAdmins, MaxBody: a.MaxUpload, Bare: true}, rest.Words{
			ID: "restoreThreads", Tag: tag, Summary: "Restores a backup.", Status: http.StatusAccepted,
			Answer: "It is checked, and is being written.",
			Text: "Needs `SYS_ADMIN`. The body is the backup, up to `threads.max_upload`, of any media type; without a body it is the " +
				"upload of the kind `backup` that `upload` names. It is checked as a whole before anything is written: one that is damaged " +
				"or cut off changes nothing. Not while data is processed.",
			Takes:      []rest.Media{{Type: "application/gzip", Examples: map[string]any{"none": "no backup"}}},
			Refused:    []int{http.StatusConflict},
			RefusedFor: map[int]string{http.StatusBadRequest: "The file is not a complete backup, or the mode is unknown."},
		}, a.restore,
		rest.Example[restoring, threads.Restoration]{Name: "none", Err: fault.New(fault.Invalid,
			"The file is not a complete backup: it is not a gzip file. Nothing was changed.")})
}

// restoring says how a backup is restored, and which.
type restoring struct {
	Mode   threads.RestoreMode `query:"mode" required:"true" doc:"merge keeps what is not in the backup, replace deletes it." example:"merge"`
	Upload string              `query:"upload" doc:"Without a body: the id of the upload to restore. If another one is there, it is 409."`
}

// backup streams every parent map.
func (a *Admin) backup(w http.ResponseWriter, r *http.Request, _ struct{}) error {
	h := w.Header()
	h.Set("Content-Type", "application/gzip")
	h.Set("Content-Disposition", `attachment; filename="threaded-comments-backup-`+a.Clock().UTC().Format("20060102-150405")+`.ndjson.gz"`)
	if r.Method == http.MethodHead {
		return nil
	}
	out := &begun{w: w}
	err := a.Backup(r.Context(), out)
	if err != nil && !out.any {
		h.Del("Content-Type")
		h.Del("Content-Disposition")
	}
	return err
}

// begun notes whether an answer has begun.
type begun struct {
	w   io.Writer
	any bool
}

func (b *begun) Write(p []byte) (int, error) {
	b.any = true
	return b.w.Write(p)
}

// restore takes a backup: the body, or the draft of one where there is none.
func (a *Admin) restore(w http.ResponseWriter, r *http.Request, in restoring) error {
	mode, err := threads.ParseRestoreMode(string(in.Mode))
	if err != nil {
		return err
	}
	// A body is read for as long as it comes, but not past a stop. What knows
	// no deadlines, as a test's recorder, cannot be stopped.
	defer context.AfterFunc(a.ended, func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) })()
	if r.ContentLength == 0 {
		err = a.restoreDraft(r.Context(), mode, in.Upload)
	} else {
		err = a.RestoreBody(r.Context(), mode, r.ContentLength, r.Body)
	}
	if err != nil {
		return err
	}
	d, err := a.Restoration(r.Context())
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusAccepted, d)
}

// restoreDraft restores the draft that the request names.
func (a *Admin) restoreDraft(ctx context.Context, mode threads.RestoreMode, upload string) error {
	id := int64(0)
	if upload != "" {
		var err error
		if id, err = strconv.ParseInt(upload, 10, 64); err != nil || id <= 0 {
			return fault.InvalidField("upload", "It must be the id of an upload of the kind backup.")
		}
	}
	file, err := a.SentBackup(ctx, id)
	if err != nil {
		return err
	}
	return a.Restore(ctx, mode, file)
}

func (a *Admin) showRestore(ctx context.Context, _ struct{}) (out threads.Restoration, err error) {
	d, err := a.Restoration(ctx)
	switch {
	case err != nil:
		return out, err
	case d == nil:
		return out, fault.New(fault.NotFound, "No backup has been restored yet.")
	}
	return *d, nil
}

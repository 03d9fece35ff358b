package api

import (
	"context"
	"io"
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
)

// backup streams every parent map.
func (a *Admin) backup(w http.ResponseWriter, r *http.Request) error {
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
func (a *Admin) restore(w http.ResponseWriter, r *http.Request) error {
	mode, err := threads.ParseRestoreMode(r.URL.Query().Get("mode"))
	if err != nil {
		return err
	}
	// A body is read for as long as it comes, but not past a stop. What knows
	// no deadlines, as a test's recorder, cannot be stopped.
	defer context.AfterFunc(a.ended, func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) })()
	var file threads.Upload
	if r.ContentLength == 0 {
		file, err = a.SentBackup(r.Context())
	} else {
		file, err = a.Take(r.Context(), threads.BackupFile, "", r.ContentLength, r.Body)
	}
	if err == nil {
		err = a.Restore(r.Context(), mode, file)
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

func (a *Admin) showRestore(w http.ResponseWriter, r *http.Request) error {
	d, err := a.Restoration(r.Context())
	switch {
	case err != nil:
		return err
	case d == nil:
		return fault.New(fault.NotFound, "No backup has been restored yet.")
	}
	return rest.WriteJSON(w, r, http.StatusOK, d)
}

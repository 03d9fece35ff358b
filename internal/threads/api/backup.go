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
	if r.ContentLength == 0 {
		err = a.restoreDraft(r, mode)
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
func (a *Admin) restoreDraft(r *http.Request, mode threads.RestoreMode) error {
	id := int64(0)
	if text := r.URL.Query().Get("upload"); text != "" {
		var err error
		if id, err = strconv.ParseInt(text, 10, 64); err != nil || id <= 0 {
			return fault.InvalidField("upload", "It must be the id of an upload of the kind backup.")
		}
	}
	file, err := a.SentBackup(r.Context(), id)
	if err != nil {
		return err
	}
	return a.Restore(r.Context(), mode, file)
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

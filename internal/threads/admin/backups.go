package admin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
	"outrigger/internal/threads/upload"
)

// backup streams every parent map.
func (a *API) backup(w http.ResponseWriter, r *http.Request) error {
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

// Backup writes every parent map as it is now.
func (t *Tool) Backup(ctx context.Context, w io.Writer) error {
	maps, err := t.Store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer maps.Close(ctx)
	return format.WriteBackup(ctx, w, t.Store.Target(), maps.At, maps)
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
func (a *API) restore(w http.ResponseWriter, r *http.Request) error {
	mode, err := restoreMode(r.URL.Query().Get("mode"))
	if err != nil {
		return err
	}
	// A body is read for as long as it comes, but not past a stop. What knows
	// no deadlines, as a test's recorder, cannot be stopped.
	defer context.AfterFunc(a.ended, func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) })()
	var file upload.Upload
	if r.ContentLength == 0 {
		file, err = a.sentBackup(r.Context())
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

func restoreMode(text string) (threads.RestoreMode, error) {
	mode := threads.RestoreMode(text)
	if mode != threads.RestoreMerge && mode != threads.RestoreReplace {
		var wrong fault.Fields
		wrong.Add("mode", "Say merge, where what the backup does not have stays, or replace, where it goes.")
		return "", wrong.Err()
	}
	return mode, nil
}

// sentBackup gives the backup that is among the drafts.
func (t *Tool) sentBackup(ctx context.Context) (upload.Upload, error) {
	u, err := t.Store.Uploads.Draft(ctx, threads.BackupFile)
	if fault.Is(err, fault.NotFound) || err == nil && !u.Complete() {
		return u, fault.New(fault.Conflict, "The backup is not here yet; send it as the body, or as an upload of the kind backup first.")
	}
	return u, err
}

// Restore has a backup written to the target once it is checked as a whole. A
// file that is none is deleted.
func (t *Tool) Restore(ctx context.Context, mode threads.RestoreMode, file upload.Upload) error {
	backup, err := format.CheckBackup(t.Store.Uploads.Reader(ctx, file))
	if fault.Is(err, fault.Invalid) {
		return errors.Join(err, t.forget(ctx, file.ID))
	}
	if err != nil {
		return err
	}
	return t.Store.BeginRestore(ctx, actor(ctx), threads.RestoreJob{Mode: mode, Upload: file.ID, Issues: backup.Trailer.Issues})
}

// forget deletes a draft that is of no use; who sent it may be gone.
func (t *Tool) forget(ctx context.Context, id int64) error {
	err := t.Store.Uploads.Delete(context.WithoutCancel(ctx), id)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// Take makes a draft of a file that comes at once: all of it, or nothing. length
// is -1 where it is not known.
func (t *Tool) Take(ctx context.Context, kind, name string, length int64, body io.Reader) (upload.Upload, error) {
	if length < 0 {
		spooled, err := t.spool(body)
		if err != nil {
			return upload.Upload{}, err
		}
		defer spooled.remove()
		length, body = spooled.size, spooled.file
	}
	if length > t.MaxUpload {
		return upload.Upload{}, t.errTooLarge(nil)
	}
	u, err := t.Store.Uploads.Create(ctx, upload.Upload{Kind: kind, Filename: name, Length: length, CreatedBy: identity.From(ctx).Name})
	if err != nil {
		return u, err
	}
	begun := u.ID
	u, err = t.Store.Uploads.Append(ctx, begun, 0, body)
	if err == nil && !u.Complete() || fault.Is(err, fault.Invalid) {
		err = errBrokeOff(err)
	}
	if err != nil {
		return u, errors.Join(err, t.forget(ctx, begun))
	}
	t.Store.Changed()
	return u, nil
}

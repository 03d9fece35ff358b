package admin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
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
	err := a.Store.Backup(r.Context(), out)
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

// restore takes a backup: the body, or what upload names.
func (a *API) restore(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	mode, err := restoreMode(q.Get("mode"))
	if err != nil {
		return err
	}
	var file upload.Upload
	if q.Has("upload") {
		file, err = a.sentBackup(r.Context(), q.Get("upload"))
	} else {
		file, err = a.Take(r.Context(), threads.BackupFile, "", r.ContentLength, r.Body)
	}
	if err != nil {
		return err
	}
	if err := a.Restore(r.Context(), mode, file); err != nil {
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

// sentBackup gives the backup that was sent as an upload.
func (t *Tool) sentBackup(ctx context.Context, text string) (upload.Upload, error) {
	var wrong fault.Fields
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		wrong.Add("upload", "Give the number of the upload.")
		return upload.Upload{}, wrong.Err()
	}
	u, err := t.Store.Uploads.Get(ctx, id)
	switch {
	case err != nil:
		return u, err
	case u.Kind != threads.BackupFile || !u.Complete():
		wrong.Add("upload", "The upload is no backup that came in whole.")
	}
	return u, wrong.Err()
}

// Restore has a backup written to the target once it is checked as a whole. A
// file that is none, or that nothing can be done with now, is deleted.
func (t *Tool) Restore(ctx context.Context, mode threads.RestoreMode, file upload.Upload) error {
	issues, err := t.checkBackup(ctx, file)
	if err == nil {
		err = t.Store.BeginRestore(ctx, actor(ctx), threads.RestoreJob{Mode: mode, Upload: file.ID, Issues: issues})
	}
	if err != nil {
		return errors.Join(err, t.forget(ctx, file.ID))
	}
	return nil
}

// checkBackup reads a backup to its end, and counts its issues.
func (t *Tool) checkBackup(ctx context.Context, file upload.Upload) (int64, error) {
	b, err := threads.NewBackupReader(t.Store.Uploads.Reader(ctx, file))
	for err == nil {
		_, err = b.Next()
	}
	if !errors.Is(err, io.EOF) {
		return 0, err
	}
	return b.Trailer.Issues, nil
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
		spooled, err := spool(t.Dir, body)
		if err != nil {
			return upload.Upload{}, tooLarge(err, t.MaxUpload)
		}
		defer spooled.remove()
		length, body = spooled.size, spooled.file
	}
	u, err := t.Store.Uploads.Create(ctx, upload.Upload{Kind: kind, Filename: name, Length: length, CreatedBy: identity.From(ctx).Name})
	if err != nil {
		return u, err
	}
	begun := u.ID
	u, err = t.Store.Uploads.Append(ctx, begun, 0, body)
	if err == nil && !u.Complete() {
		err = fault.New(fault.Invalid, "The file broke off; nothing was kept. Send it again.")
	}
	if err != nil {
		return u, errors.Join(tooLarge(err, t.MaxUpload), t.forget(ctx, begun))
	}
	t.Store.Changed()
	return u, nil
}
